import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type Json, type Listener, listen, openEvents, type Seen, sendJson, untilAborted } from "./http.js";
import {
  chooseReply,
  countTokens,
  createFailures,
  emptyHistory,
  type History,
  hear,
  pieces,
  type Reply,
  resolveTool,
} from "./script.js";

/** Stands in for the Messages API: the model behind Claude Code. */
export function startAnthropic(): Promise<Listener> {
  const fails = createFailures();
  return listen(async (request, response) => {
    if (request.method === "HEAD") {
      response.writeHead(200).end();
      return true;
    }
    if (request.method !== "POST") return false;
    if (request.path === "/v1/messages/count_tokens") {
      sendJson(response, 200, { input_tokens: countTokens(request.body.messages) });
      return true;
    }
    if (request.path !== "/v1/messages") return false;
    const history = historyOf(request.body.messages);
    const reply = replyTo(request, history);
    if (fails(reply, history)) fail(response, reply.error?.status ?? 500);
    else await answer(request.body, reply, response);
    return true;
  });
}

/** Turns of the agent, without the program's own side questions (titles, summaries). */
export function turnsOf(requests: readonly Seen[]): Json[] {
  return requests.filter(isTurn).map(({ body }) => body);
}

function isTurn({ path, body }: Seen): boolean {
  return path === "/v1/messages" && (body.tools ?? []).length > 0;
}

function replyTo(request: Seen, history: History): Reply {
  if (isTurn(request)) return chooseReply(history);
  return { text: "side", tools: [], hang: false, error: undefined, usage: undefined };
}

const ERRORS: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  429: "rate_limit_error",
  529: "overloaded_error",
};

function fail(response: ServerResponse, status: number): void {
  const error = { type: ERRORS[status] ?? "api_error", message: `scripted ${status}` };
  sendJson(response, status, { type: "error", error });
}

function blocks(content: Json): Json[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
}

/** The program wraps its own notes in tags; what it was told by people is no such thing. */
const NOTE = /^\s*(<[a-z_-]+[ >]|\[Request interrupted)/;

function historyOf(messages: Json[] = []): History {
  const history = emptyHistory();
  let answered = true;
  for (const message of messages) {
    if (message.role !== "user") {
      answered = true;
      continue;
    }
    const content = blocks(message.content);
    const results = content.filter((block) => block.type === "tool_result");
    if (results.length > 0) {
      history.rounds += 1;
      history.lastResult = results
        .map((block) =>
          blocks(block.content)
            .map(({ text }) => text)
            .join("\n"),
        )
        .join("\n");
    }
    for (const block of content) {
      if (block.type !== "text" || block.text.trim() === "" || NOTE.test(block.text)) continue;
      hear(history, block.text, answered);
      answered = false;
    }
  }
  return history;
}

async function answer(body: Json, reply: Reply, response: ServerResponse): Promise<void> {
  const offered = (body.tools ?? []).map(({ name }: Json) => ({ name }));
  const id = () => randomUUID().replaceAll("-", "").slice(0, 24);
  const content = [
    ...(reply.text === "" ? [] : [{ type: "text", text: reply.text }]),
    ...reply.tools.map(({ name, input }) => {
      return { type: "tool_use", id: `toolu_${id()}`, name: resolveTool(name, offered)?.name ?? name, input };
    }),
  ];
  const message = {
    id: `msg_${id()}`,
    type: "message",
    role: "assistant",
    model: body.model,
    stop_sequence: null,
    stop_reason: reply.tools.length > 0 ? "tool_use" : "end_turn",
    usage: {
      input_tokens: reply.usage?.input ?? countTokens(body.messages),
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: reply.usage?.cached ?? 0,
      output_tokens: reply.usage?.output ?? countTokens(content),
    },
  };
  if (body.stream === true) await stream({ ...message, content }, reply, response);
  else sendJson(response, 200, { ...message, content });
}

async function stream(message: Json, reply: Reply, response: ServerResponse): Promise<void> {
  const events = openEvents(response);
  const send = (type: string, data: object) => events.send(type, { type, ...data });
  send("message_start", { message: { ...message, content: [], stop_reason: null } });
  for (const [index, block] of message.content.entries()) {
    const isText = block.type === "text";
    send("content_block_start", {
      index,
      content_block: isText ? { type: "text", text: "" } : { ...block, input: {} },
    });
    for (const piece of pieces(isText ? block.text : JSON.stringify(block.input))) {
      const delta = isText
        ? { type: "text_delta", text: piece }
        : { type: "input_json_delta", partial_json: piece };
      send("content_block_delta", { index, delta });
      if (isText && reply.hang) return untilAborted(events.gone);
    }
    send("content_block_stop", { index });
  }
  const { stop_reason, usage } = message;
  send("message_delta", {
    delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: usage.output_tokens },
  });
  send("message_stop", {});
  events.end();
}
