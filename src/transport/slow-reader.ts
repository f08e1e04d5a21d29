import { Code } from "../../gen/google/rpc/code_pb.js";
import { Fault } from "../domain/fault.js";

/** How long a client may take nothing of what is sent to it. Streams can be resumed, so it need not be endless. */
export const SLOW_READER_MS = 60_000;

/** What can be written to, whatever the protocol. */
interface Writable {
  on(event: "drain" | "close", listener: () => void): unknown;
  off(event: "drain" | "close", listener: () => void): unknown;
}

/** Resolves when there is room for more, or nobody left to write to: one that reads nothing for too long is cut. */
export function roomToWrite(to: Writable, cut: () => void, afterMs: number): Promise<void> {
  return new Promise((resolve) => {
    const slow = setTimeout(cut, afterMs);
    const done = () => {
      clearTimeout(slow);
      to.off("drain", done);
      to.off("close", done);
      resolve();
    };
    to.on("drain", done);
    to.on("close", done);
  });
}

/** Told where the stream cannot be cut from here, should the client read on. */
export function readerTooSlow(): Fault {
  return new Fault(Code.ABORTED, "SLOW_READER", "the stream was not read for too long: resume by its cursor");
}
