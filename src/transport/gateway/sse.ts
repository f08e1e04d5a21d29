import type { ServerResponse } from "node:http";
import { type DescMessage, isFieldSet, type Message, ScalarType } from "@bufbuild/protobuf";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Fault, internal, invalidField } from "../../domain/fault.js";
import { quoted } from "../../domain/name.js";
import { roomToWrite } from "../slow-reader.js";
import { toEnvelope } from "../status.js";
import { compileEncode } from "./encode.js";
import type { ErrorLog } from "./envelope.js";
import { isClosed } from "./incoming.js";
import type { Route } from "./rule.js";

const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  // Proxies of the nginx family hold a stream back until their buffer is full, unless told.
  "x-accel-buffering": "no",
};

/**
 * Answers with a stream of Server-Sent Events, and resolves once it has begun: whoever waited for its end would hold the
 * request for as long. What goes wrong before the first message is thrown, so that it can still be an answer with a
 * status; what goes wrong later is told as an event of the type `error`.
 */
export async function sendEvents(
  reply: FastifyReply,
  messages: AsyncIterable<Message>,
  encode: (message: Message) => string,
  log: ErrorLog,
  slowReaderMs: number,
): Promise<void> {
  const iterator = messages[Symbol.asyncIterator]();
  const first = await iterator.next();
  reply.hijack();
  const response = reply.raw;
  response.writeHead(200, HEADERS);
  follow(response, iterator, first, { encode, log, slowReaderMs }).catch((err: unknown) =>
    log.error({ err }, "unexpected error at the end of a stream of the gateway"),
  );
}

interface Following {
  readonly encode: (message: Message) => string;
  readonly log: ErrorLog;
  readonly slowReaderMs: number;
}

/** Not async itself: one that is suspended keeps its arguments, and the first message is the largest. */
function follow(
  response: ServerResponse,
  iterator: AsyncIterator<Message>,
  first: IteratorResult<Message>,
  { encode, log, slowReaderMs }: Following,
): Promise<void> {
  let gone = isClosed(response);
  response.once("close", () => {
    gone = true;
  });
  let ready: IteratorResult<Message> | undefined = first;

  /**
   * False when there are no more. A function of its own, because a stream may be silent for hours, and a loop would
   * keep what was said last for as long.
   */
  async function sendNext(): Promise<boolean> {
    const next = ready ?? (await iterator.next());
    ready = undefined;
    if (next.done || gone) return false;
    if (!response.write(encode(next.value))) {
      await roomToWrite(response, () => response.destroy(), slowReaderMs);
    }
    return !gone;
  }

  async function sendAll(): Promise<void> {
    try {
      while (await sendNext());
    } catch (error) {
      if (!(error instanceof Fault)) log.error({ err: error }, "unexpected error in a stream of the gateway");
      const envelope = toEnvelope(error instanceof Fault ? error : internal());
      if (!gone) response.write(`event: error\ndata: ${JSON.stringify(envelope)}\n\n`);
    } finally {
      response.end();
      await iterator.return?.();
    }
  }

  return sendAll();
}

/** Compiles how a message of the stream is written: with its cursor as id, a heartbeat as a comment. */
export function compileEvent(route: Route): (message: Message) => string {
  const { output } = route.rpc.method;
  const encode = compileEncode(route);
  const cursor = output.fields.find((field) => field.name === "cursor" && field.scalar === ScalarType.STRING);
  const heartbeat = output.fields.find((field) => field.message?.typeName === "retinue.v1.Heartbeat");
  return (message) => {
    if (heartbeat && isFieldSet(message, heartbeat)) return ": heartbeat\n\n";
    const id = cursor && (message as Message & Record<string, string>)[cursor.localName];
    return `${id ? `id: ${id}\n` : ""}data: ${encode(message)}\n\n`;
  };
}

/** Compiles how a stream is resumed: Last-Event-ID, `uid:seq`, over the request's own cursor. */
export function compileResume(input: DescMessage): (request: FastifyRequest, message: Message) => void {
  const seqField = input.fields.find(
    ({ name, scalar }) => name === "after_seq" && scalar === ScalarType.INT64,
  );
  const uidField = input.fields.find(
    ({ name, scalar }) => name === "after_uid" && scalar === ScalarType.STRING,
  );
  return ({ headers }, message) => {
    const id = headers["last-event-id"];
    if (!seqField || !uidField || typeof id !== "string" || id === "") return;
    const cursor = /^([^:]*):(\d{1,18})$/.exec(id);
    if (cursor === null) throw invalidField("Last-Event-ID", `must be like 'uid:seq', not ${quoted(id)}`);
    const target = message as Message & Record<string, unknown>;
    target[uidField.localName] = cursor[1];
    target[seqField.localName] = BigInt(cursor[2] as string);
  };
}
