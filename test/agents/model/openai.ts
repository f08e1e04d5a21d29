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
  type OfferedTool,
  pieces,
  type Reply,
  resolveTool,
} from "./script.js";

/** Stands in for the Responses API: the model behind Codex. */
export function startOpenAI(): Promise<Listener> {
  const fails = createFailures();
  return listen(async (request, response) => {
    if (request.method !== "POST" || !isTurn(request)) return false;
    const history = historyOf(request.body.input);
    const reply = chooseReply(history);
    if (fails(reply, history)) {
      const status = reply.error?.status ?? 500;
      sendJson(response, status, { error: { message: `scripted ${status}`, type: "scripted", code: null } });
    } else await answer(request.body, reply, response);
    return true;
  });
}

export function turnsOf(requests: readonly Seen[]): Json[] {
  return requests.filter(isTurn).map(({ body }) => body);
}

function isTurn({ path }: Seen): boolean {
  return path.endsWith("/responses");
}

/** The program wraps its own notes in tags or headings; what it was told by people is no such thing. */
const NOTE = /^\s*(<[a-zA-Z_-]+|# AGENTS\.md)/;

function textOf(content: Json): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part: Json) => part.text ?? "").join("\n");
}

function historyOf(input: Json[]): History {
  const history = emptyHistory();
  let inResults = false;
  let answered = true;
  for (const item of input) {
    if (item.type === "message" && item.role === "user") {
      for (const part of item.content) {
        if ((part.text ?? "").trim() === "" || NOTE.test(part.text)) continue;
        hear(history, part.text, answered);
        answered = false;
      }
      inResults = false;
      // A look for a tool is no round of its own.
    } else if (/_output$/.test(item.type) && item.type !== "tool_search_output") {
      if (!inResults) history.rounds += 1;
      history.lastResult = inResults ? `${history.lastResult}\n${textOf(item.output)}` : textOf(item.output);
      inResults = true;
    } else {
      inResults = false;
      answered ||= item.role === "assistant" || /_call$/.test(item.type);
    }
  }
  return history;
}

function offeredIn(tools: Json[] = []): OfferedTool[] {
  return tools.flatMap((tool) =>
    tool.type === "namespace"
      ? tool.tools.map((inner: Json) => ({ name: inner.name, namespace: tool.name, kind: inner.type }))
      : [{ name: tool.name ?? tool.type, kind: tool.type }],
  );
}

/** Tools come with the request, and as the answer to a search for them. */
function offeredTools(body: Json): OfferedTool[] {
  const found = body.input.filter(
    ({ type }: Json) => type === "tool_search_output" || type === "additional_tools",
  );
  return [...offeredIn(body.tools), ...found.flatMap(({ tools }: Json) => offeredIn(tools))];
}

const id = (prefix: string) => `${prefix}_${randomUUID().replaceAll("-", "")}`;

function outputOf(body: Json, reply: Reply): Json[] {
  const offered = offeredTools(body);
  const searched = (query: string) =>
    body.input.some((item: Json) => item.type === "tool_search_call" && item.arguments?.query === query);
  const content = [{ type: "output_text", text: reply.text, annotations: [] }];
  const message = { id: id("msg"), type: "message", role: "assistant", status: "completed", content };
  const calls = reply.tools.map((use) => callOf(use, offered, searched));
  // What it has to say, it says with the call that it searches for.
  const searches = calls.some(({ type }) => type === "tool_search_call");
  return reply.text === "" || searches ? calls : [message, ...calls];
}

function callOf(
  { name, input }: { name: string; input: Json },
  offered: readonly OfferedTool[],
  searched: (query: string) => boolean,
): Json {
  const tool = resolveTool(name, offered);
  const status = "completed";
  // Programs hold MCP tools back until the model has searched for them.
  const query = name.replaceAll("_", " ");
  if (tool === undefined && !searched(query) && offered.some(({ kind }) => kind === "tool_search")) {
    const search = { status, call_id: id("call"), execution: "client", arguments: { query, limit: 50 } };
    return { id: id("tsc"), type: "tool_search_call", ...search };
  }
  const named = {
    name: tool?.name ?? name,
    ...(tool?.namespace === undefined ? {} : { namespace: tool.namespace }),
  };
  if (tool?.kind === "custom") {
    return {
      id: id("ctc"),
      type: "custom_tool_call",
      status,
      call_id: id("call"),
      ...named,
      input: input.input,
    };
  }
  const args = JSON.stringify(input);
  return { id: id("fc"), type: "function_call", status, call_id: id("call"), ...named, arguments: args };
}

async function answer(body: Json, reply: Reply, response: ServerResponse): Promise<void> {
  const output = outputOf(body, reply);
  const input_tokens = reply.usage?.input ?? countTokens(body.input);
  const output_tokens = reply.usage?.output ?? countTokens(output);
  const usage = {
    input_tokens,
    input_tokens_details: { cached_tokens: reply.usage?.cached ?? 0 },
    output_tokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input_tokens + output_tokens,
  };
  const base = { id: id("resp"), object: "response", created_at: 0, model: body.model, error: null };
  const events = openEvents(response);
  let sequence_number = 0;
  const send = (type: string, data: object) =>
    events.send(type, { type, sequence_number: sequence_number++, ...data });
  send("response.created", { response: { ...base, status: "in_progress", output: [], usage: null } });
  for (const [output_index, item] of output.entries()) {
    send("response.output_item.added", {
      output_index,
      item: { ...item, status: "in_progress", content: [] },
    });
    for (const delta of item.type === "message" ? pieces(reply.text) : []) {
      send("response.output_text.delta", { item_id: item.id, output_index, content_index: 0, delta });
      if (reply.hang) return untilAborted(events.gone);
    }
    send("response.output_item.done", { output_index, item });
  }
  send("response.completed", { response: { ...base, status: "completed", output, usage } });
  events.end();
}
