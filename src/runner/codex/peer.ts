import { StringDecoder } from "node:string_decoder";
import type { AgentProcess } from "../acp/agent-process.js";
import { type JsonRecord, number, record, text } from "../acp/json.js";
import { exitError } from "../acp/turn-answer.js";
import { RunnerError } from "../runner-error.js";

/** JSON-RPC over a process's pipes, as the app server speaks it: a message a line, without the version. */
export interface Peer {
  /** Rejects with `PeerError` when it is refused, with `RunnerError` when the process is gone. */
  request(method: string, params: unknown): Promise<JsonRecord>;
  notify(method: string): void;
}

export interface PeerHandlers {
  /** In the order of the messages, before an answer that came after them is settled. */
  onNotification(method: string, params: JsonRecord): void;
  /** The answer; undefined: the method is not known. */
  onRequest(method: string, params: JsonRecord): unknown;
}

/** A request that the other side answered with an error. */
export class PeerError extends Error {
  override readonly name = "PeerError";

  constructor(
    message: string,
    readonly code: number,
  ) {
    super(message);
  }
}

const METHOD_NOT_FOUND = -32601;

interface Pending {
  resolve(answer: JsonRecord): void;
  reject(error: Error): void;
}

export function createPeer(agentProcess: AgentProcess, handlers: PeerHandlers): Peer {
  const { stdin, stdout, guard } = agentProcess;
  const pending = new Map<unknown, Pending>();
  const decoder = new StringDecoder("utf8");
  let lastId = 0;
  let line = "";
  let gone: RunnerError | undefined;

  const send = (message: object) => void stdin.write(`${JSON.stringify(message)}\n`);

  const answer = (id: unknown, method: string, params: JsonRecord) => {
    const result = handlers.onRequest(method, params);
    const error = { code: METHOD_NOT_FOUND, message: `${method} is not known here` };
    send(result === undefined ? { id, error } : { id, result });
  };

  const settle = (id: unknown, message: JsonRecord) => {
    const waiting = pending.get(id);
    pending.delete(id);
    const error = record(message.error);
    if (message.error === undefined) waiting?.resolve(record(message.result));
    else waiting?.reject(new PeerError(text(error.message), number(error.code)));
  };

  const read = (whole: string) => {
    const message = parsed(whole);
    const method = text(message.method);
    if (method === "") settle(message.id, message);
    else if (message.id === undefined) handlers.onNotification(method, record(message.params));
    else answer(message.id, method, record(message.params));
  };

  stdout.on("data", (chunk: Buffer) => {
    for (const piece of guard.pass(chunk)) {
      line += decoder.write(piece);
      if (!line.endsWith("\n")) continue;
      read(line);
      line = "";
    }
  });
  void agentProcess.exited.then((exit) => {
    gone = new RunnerError(exitError(exit));
    for (const { reject } of pending.values()) reject(gone);
    pending.clear();
  });

  return {
    notify: (method) => send({ method }),
    request(method, params) {
      if (gone !== undefined) return Promise.reject(gone);
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        pending.set(id, { resolve, reject });
        send({ id, method, params });
      });
    },
  };
}

function parsed(line: string): JsonRecord {
  try {
    return record(JSON.parse(line));
  } catch {
    return {};
  }
}
