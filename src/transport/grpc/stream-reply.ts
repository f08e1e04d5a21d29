import http2, { type ServerHttp2Stream } from "node:http2";
import type { Fault } from "../../domain/fault.js";
import { sendable } from "../limits.js";
import { roomToWrite } from "../slow-reader.js";
import { statusHeaders } from "./frame.js";

export const HEAD = { ":status": 200, "content-type": "application/grpc+proto" };
// `date` would be one more header to format and compress; gRPC has no use for it. Node's types lack sendDate.
export const THEN_TRAILERS = { waitForTrailers: true, sendDate: false };
const OK = { "grpc-status": "0" };

/** The messages of a server-streaming call, as they go out on its stream. */
export class StreamReply {
  constructor(
    private readonly stream: ServerHttp2Stream,
    private readonly slowReaderMs: number,
  ) {
    stream.respond(HEAD, THEN_TRAILERS);
  }

  /** Waits, after writing, until there is room for more; undefined: there is. */
  write(frame: Buffer): Promise<void> | undefined {
    if (this.stream.write(frame)) return undefined;
    return roomToWrite(this.stream, () => this.#cut(), this.slowReaderMs);
  }

  /** Comes after what was written, so that a client that does not read has to be cut here as well. */
  end(fault?: Fault): void {
    const { stream } = this;
    stream.once("wantTrailers", () => sendTrailers.call(stream, fault));
    const slow = setTimeout(() => this.#cut(), this.slowReaderMs);
    stream.once("close", () => clearTimeout(slow));
    stream.end();
  }

  #cut(): void {
    this.stream.close(http2.constants.NGHTTP2_CANCEL);
  }
}

/** A listener of 'wantTrailers', and of nothing else: the stream must be ended. */
export function sendTrailers(this: ServerHttp2Stream, fault?: Fault): void {
  try {
    this.sendTrailers(fault ? statusHeaders(sendable(fault)) : OK);
  } catch {
    this.destroy(); // the client has reset the stream in the same tick
  }
}
