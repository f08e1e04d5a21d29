import type { Readable, Writable } from "node:stream";
import { type AnyMessage, ndJsonStream, type Stream } from "@agentclientprotocol/sdk/unstable";
import type { OutputGuard } from "./output-guard.js";

export const UPDATE = "session/update";
/** claude-agent-acp's own: the only place where it tells the structured result. */
export const CLAUDE_MESSAGE = "_claude/sdkMessage";

const NOTICES = new Set([UPDATE, CLAUDE_MESSAGE]);

/**
 * The SDK's message stream over a process's pipes, with two things taken out on the way in:
 * - updates go to `onNotice` here, in order. Handed on, the SDK would settle an answer before it has dispatched the
 *   updates that came before it, drop the last ones when the process ends, and log each kind it does not know;
 * - answers to questions that nobody asked are dropped: the SDK logs their id, which is the program's text.
 */
export function createMessageStream(
  pipes: { readonly stdin: Writable; readonly stdout: Readable },
  guard: OutputGuard,
  onNotice: (method: string, params: unknown) => void,
): Stream {
  const asked = new Set<unknown>();
  const raw = ndJsonStream(bytesOut(pipes.stdin), bytesIn(pipes.stdout, guard));
  const writer = raw.writable.getWriter();
  const readable = raw.readable.pipeThrough(
    new TransformStream<AnyMessage, AnyMessage>({
      transform(message, controller) {
        if ("method" in message) {
          if (NOTICES.has(message.method) && !("id" in message)) onNotice(message.method, message.params);
          else controller.enqueue(message);
        } else if (asked.delete(message.id)) {
          controller.enqueue(message);
        }
      },
    }),
  );
  const writable = new WritableStream<AnyMessage>({
    write(message) {
      if ("method" in message && "id" in message) asked.add(message.id);
      return writer.write(message);
    },
  });
  return { readable, writable };
}

function bytesOut(stdin: Writable): WritableStream<Uint8Array> {
  return new WritableStream({
    write: (chunk) =>
      new Promise((resolve, reject) => {
        stdin.write(chunk, (error) => (error ? reject(error) : resolve()));
      }),
  });
}

/** Not `Readable.toWeb`: that turns the end of a killed process into an error, and the guard has to sit somewhere. */
function bytesIn(stdout: Readable, guard: OutputGuard): ReadableStream<Uint8Array> {
  let open = true;
  return new ReadableStream({
    start(controller) {
      const end = () => {
        if (open) controller.close();
        open = false;
      };
      stdout.on("data", (chunk: Buffer) => {
        for (const piece of guard.pass(chunk)) if (open) controller.enqueue(piece);
        if (open && (controller.desiredSize ?? 0) <= 0) stdout.pause();
      });
      stdout.once("end", end);
      stdout.once("close", end);
    },
    pull() {
      stdout.resume();
    },
    cancel() {
      // Nobody listens any more, but a full pipe would hold up the program's end. The stream counts as closed now.
      open = false;
      stdout.resume();
    },
  });
}
