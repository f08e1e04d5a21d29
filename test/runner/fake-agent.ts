// Run by tests as an agent program that is out of order in one way, named by its argument. Written to the wire by
// hand: no library would send most of this.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

type Json = Record<string, unknown>;
type Message = { id?: number | string; method?: string; params?: Json; result?: Json };

const mode = process.argv[2] as string;
const cancels: unknown[] = [];
let prompts = 0;
let held: number | string | undefined;

const write = (message: Json) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const answer = (id: Message["id"], result: Json) => write({ id, result });
const fail = (id: Message["id"], code: number, message: string, data?: Json) =>
  write({ id, error: { code, message, data } });
const update = (change: Json) =>
  write({ method: "session/update", params: { sessionId: "s", update: change } });
const say = (text: string) =>
  update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
const end = (id: Message["id"], more: Json = {}) => answer(id, { stopReason: "end_turn", ...more });
const cost = (amount: number) =>
  update({ sessionUpdate: "usage_update", used: 1, size: 2, cost: { amount, currency: "USD" } });

function garble(): void {
  process.stdout.write(
    'Welcome to the agent!\n\n   \n\x1b[31mwarning\x1b[0m: {not json}\n{broken\n[1,2]\n"x"\n42\nnull\n',
  );
  process.stdout.write('{"jsonrpc":"2.0","id":"nobody","result":1}\n{"jsonrpc":"2.0"}\n{}\n{"id":7}\n');
  process.stdout.write(Buffer.from([0xff, 0xfe, 0x00, 0x0a]));
  write({ method: "session/update", params: null });
  write({ method: "session/update", params: { sessionId: "s", update: { sessionUpdate: "of_the_future" } } });
  write({
    method: "session/update",
    params: { sessionId: "s", update: { sessionUpdate: "plan", entries: 3 } },
  });
  write({ method: "session/update", params: { sessionId: "s", update: { sessionUpdate: "tool_call" } } });
  write({
    method: "session/update",
    params: {
      sessionId: "other",
      update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "not mine" } },
    },
  });
  write({ method: "of/the/future", params: {} });
  write({ id: "q", method: "fs/read_text_file", params: { path: "/etc/passwd" } });
}

function flood(write: () => boolean): void {
  const more = () => {
    while (write());
    setImmediate(more);
  };
  more();
}

const PROMPTS: Record<string, (id: Message["id"]) => void> = {
  garbage(id) {
    garble();
    say("still here");
    end(id);
  },
  "long-line": () => flood(() => process.stdout.write(`{"a":"${"x".repeat(65_536)}`)),
  "junk-flood": () => flood(() => process.stdout.write("spinning\n".repeat(1000))),
  "stderr-flood": () => flood(() => process.stderr.write("debug\n".repeat(1000))),
  "update-flood": () => flood(() => say("x".repeat(60_000))),
  closes() {
    say("last");
    process.stdout.end();
  },
  asks(id) {
    held = id;
    const options = [
      { optionId: "yes!", kind: "allow_always", name: "always" },
      { optionId: "yes", kind: "allow_once", name: "once" },
      { optionId: "no", kind: "reject_once", name: "no" },
    ];
    const ask = (about: string, toolCall: Json) =>
      write({
        id: about,
        method: "session/request_permission",
        params: { sessionId: "s", toolCall, options },
      });
    ask("own", {
      toolCallId: "1",
      title: "mcp__retinue__retinue_ask",
      kind: "other",
      rawInput: { question: "?" },
    });
    ask("shell", { toolCallId: "2", title: "mcp__retinue__x; rm -rf /", kind: "execute" });
    ask("posing", { toolCallId: "3", title: "mcp__retinue__x", kind: "execute" });
  },
  "cancels-once": (id) => (prompts === 1 ? answer(id, { stopReason: "cancelled" }) : end(id)),
  "cancels-always": (id) => answer(id, { stopReason: "cancelled" }),
  counts(id) {
    say(`${cancels.length} cancels`);
    if (prompts === 2) held = id;
    else end(id);
  },
  "errors-on-cancel"(id) {
    say("off");
    held = id;
  },
  evades: () => say(`${spawn("sleep", ["1000"], { detached: true, env: {}, stdio: "ignore" }).pid}`),
  "null-usage": (id) => end(id, { usage: null }),
  failure: (id) =>
    end(id, {
      _meta: { jetbrains: { air: { sessionFailure: { category: "Network", title: "no route" } } } },
    }),
  overloaded: (id) => fail(id, -32603, "API Error: 529", { errorKind: "server_error" }),
  refuses: (id) => answer(id, { stopReason: "refusal" }),
  "too-long": (id) => answer(id, { stopReason: "max_tokens" }),
  invents: (id) => answer(id, { stopReason: "bored" }),
  tools(id) {
    const call = (change: Json) => update({ toolCallId: "t", ...change });
    call({ sessionUpdate: "tool_call", title: "Bash", kind: "execute", status: "pending", rawInput: {} });
    call({ sessionUpdate: "tool_call_update", rawInput: { command: "ls" }, title: "`ls`" });
    call({ sessionUpdate: "tool_call_update", status: "in_progress" });
    const content = [{ type: "content", content: { type: "text", text: "a\nb" } }];
    call({ sessionUpdate: "tool_call_update", status: "completed", content });
    call({ sessionUpdate: "tool_call_update", status: "completed", content });
    update({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "hm" } });
    update({ sessionUpdate: "plan", entries: [{ content: "c", status: "pending", priority: "low" }] });
    end(id);
  },
  // As claude-agent-acp 0.49 counts: from 0 in every process.
  spends(id) {
    cost(prompts * 0.25);
    cost(prompts * 0.25 - 0.1);
    end(id, {
      usage: {
        inputTokens: 1,
        outputTokens: 2,
        cachedReadTokens: 3,
        cachedWriteTokens: 4,
        thoughtTokens: 5,
        totalTokens: 15,
      },
    });
    cost(prompts * 0.25);
  },
};

const OPEN = { sessionId: "s" };
const HANDLERS: Record<string, (id: Message["id"], params: Json) => void> = {
  initialize(id) {
    if (mode === "garbage") garble();
    if (mode === "deaf") return void process.stderr.write("waiting for a login with the-agents-key\n");
    const loadSession = mode === "loads" || mode === "resume-refused";
    const agentCapabilities = { loadSession, sessionCapabilities: mode === "loads" ? {} : { resume: {} } };
    answer(id, {
      protocolVersion: mode === "old" ? 0 : 1,
      agentCapabilities,
      agentInfo: { name: mode, version: "0" },
    });
  },
  "session/new"(id) {
    if (mode === "auth") fail(id, -32000, "Authentication required");
    else if (mode === "nameless") answer(id, {});
    else answer(id, OPEN);
  },
  "session/resume": (id) => (mode === "resume-refused" ? fail(id, -32603, "no") : answer(id, {})),
  "session/load"(id) {
    say("replayed");
    answer(id, {});
  },
  "session/prompt"(id) {
    prompts += 1;
    PROMPTS[mode]?.(id);
  },
  "session/cancel"() {
    cancels.push(1);
    if (mode === "errors-on-cancel") fail(held, -32800, "Request cancelled");
    if (mode === "counts") answer(held, { stopReason: "cancelled" });
  },
};

if (mode === "exits") {
  process.stderr.write("\x1b[31mno licence found\x1b[0m for the-agents-key\n");
  process.exit(3);
}
if (mode === "banner-exits") {
  process.stdout.write("Error: not logged in\n");
  process.exit(1);
}
if (mode === "stubborn") {
  process.on("SIGTERM", () => {});
  setInterval(() => {}, 60_000);
}
if (mode === "polite") {
  process.on("SIGTERM", () => process.exit(9));
  setInterval(() => {}, 60_000);
}

const outcomes: string[] = [];
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result } = JSON.parse(line) as Message;
  if (method !== undefined) return HANDLERS[method]?.(id, params ?? {});
  if (mode !== "asks") return;
  const outcome = result?.outcome as Json;
  outcomes.push(`${id}=${outcome.optionId ?? outcome.outcome}`);
  if (outcomes.length < 3) return;
  say(outcomes.join(" "));
  end(held);
});
