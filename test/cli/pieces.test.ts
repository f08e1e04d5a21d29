import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Command } from "commander";
import { AgentIdSchema } from "../../gen/retinue/v1/agent_id_pb.js";
import { Phase } from "../../gen/retinue/v1/agent_pb.js";
import { AgentListEntrySchema } from "../../gen/retinue/v1/agent_service_pb.js";
import { InputFormat } from "../../gen/retinue/v1/catalog_pb.js";
import { EventSchema, EventType } from "../../gen/retinue/v1/event_pb.js";
import { FollowUpState } from "../../gen/retinue/v1/follow_up_pb.js";
import { TaskStatus } from "../../gen/retinue/v1/task_pb.js";
import { type WatchResponse, WatchResponseSchema } from "../../gen/retinue/v1/timeline_service_pb.js";
import { branches, treeOf } from "../../src/cli/agent-tree.js";
import { KINDS, written } from "../../src/cli/catalog/kinds.js";
import { diffLines } from "../../src/cli/catalog/line-diff.js";
import { manifestsOf, textOf } from "../../src/cli/catalog/text.js";
import { candidates } from "../../src/cli/complete.js";
import { addClientCommands } from "../../src/cli/index.js";
import { type AgentView, update, viewOf } from "../../src/cli/live/agent-view.js";
import { treeLines } from "../../src/cli/live/tree-lines.js";
import { createPaint } from "../../src/cli/paint.js";
import { clean, cut, widthOf } from "../../src/cli/text.js";
import { momentOf, parseDuration, parseTime, span } from "../../src/cli/time.js";

const T0 = Date.parse("2026-11-15T12:00:00Z");

describe("durations and times of the command line", () => {
  const durations: [string, number][] = [
    ["90s", 90_000],
    ["2h", 7_200_000],
    ["1h30m", 5_400_000],
    ["1.5d", 129_600_000],
    ["250ms", 250],
  ];
  for (const [text, expected] of durations) {
    it(`${text} is ${expected} ms`, () => assert.equal(parseDuration(text, "--in"), expected));
  }
  for (const text of ["soon", "", "2", "2 h", "-2h", "2hx", "1e3s"]) {
    it(`"${text}" is no duration`, () => assert.throws(() => parseDuration(text, "--in"), /--in .*90s, 2h/));
  }
  it("a time of day is the next such time", () => {
    const now = new Date(2026, 10, 15, 12, 0);
    assert.deepEqual(parseTime("13:05", "--at", now), new Date(2026, 10, 15, 13, 5));
    assert.deepEqual(parseTime("11:05", "--at", now), new Date(2026, 10, 16, 11, 5));
    assert.deepEqual(parseTime("12:00", "--at", now), new Date(2026, 10, 16, 12, 0));
    assert.deepEqual(parseTime("2026-11-30T09:00:00Z", "--at", now).getTime(), Date.UTC(2026, 10, 30, 9));
    for (const text of ["25:00", "09:61", "tomorrow", "2026", "9"]) {
      assert.throws(() => parseTime(text, "--at", now), /--at/, text);
    }
  });
  it("--at and --in exclude each other", () => {
    assert.throws(() => momentOf("09:00", "1h", ["--at", "--in"]), /exclude each other/);
    assert.equal(momentOf(undefined, undefined, ["--at", "--in"]), undefined);
  });
  it("how long is told in two units", () => {
    assert.deepEqual([0, 999, 59_000, 61_000, 3_600_000, 7_500_000, 90_000_000, -5].map(span), [
      "0s",
      "1s",
      "59s",
      "1m1s",
      "1h",
      "2h5m",
      "1d1h",
      "0s",
    ]);
  });
});

describe("text of others on a terminal", () => {
  it("cannot do anything to it", () => {
    assert.equal(clean("a\u001b[2Jb\u0007c\u009b1md\u202ee\tf\ng\r"), "a[2Jbc1mde\tf\ng");
  });
  it("is measured and cut in columns, wide characters and colours counted rightly", () => {
    assert.equal(widthOf("日本語"), 6);
    assert.equal(widthOf("e\u0301"), 1);
    assert.equal(widthOf("\u001b[31mred\u001b[0m"), 3);
    assert.equal(cut("abcdef", 4), "abc…");
    assert.equal(cut("日本語", 4), "日…");
    assert.equal(cut("abcd", 4), "abcd");
  });
});

describe("documents as people write them", () => {
  const persona = {
    kind: "persona",
    name: "p",
    document: { displayName: "P", instructions: "# Hi\n\n---\nthere\n" },
  };

  it("Markdown comes back as it was, whatever its body holds", () => {
    const text = textOf(persona, InputFormat.MARKDOWN);
    assert.match(text, /^---\nkind: persona\nname: p\ndisplayName: P\n---\n\n# Hi\n/);
    assert.deepEqual(manifestsOf(text, "anything.md"), [{ ...persona, source: "anything.md" }]);
    assert.deepEqual(manifestsOf(text, "-"), [{ ...persona, source: "-" }], "from a pipe, too");
  });
  it("kind and name stand in the file, or are its folder's and its own name", () => {
    const [manifest] = manifestsOf("displayName: X\n", "catalog/workspace/shop.yaml");
    assert.deepEqual([manifest?.kind, manifest?.name], ["workspace", "shop"]);
    assert.throws(() => manifestsOf("displayName: X\n", "-"), /does not say what it is/);
  });
  it("several YAML documents in a pipe are not Markdown", () => {
    const text = "---\nkind: workspace\nname: a\n---\nkind: workspace\nname: b\n";
    assert.deepEqual(
      manifestsOf(text, "-").map(({ name }) => name),
      ["a", "b"],
    );
  });
  it("what is no YAML is refused with its place", () => {
    assert.throws(() => manifestsOf("a: [", "x/y.yaml"), /x\/y\.yaml: .*line 1/);
    assert.throws(() => manifestsOf("just words", "x/y.yaml"), /mapping of fields/);
  });
  it("what the server adds is no part of them, and defaults are left out", () => {
    const stored = {
      meta: { createdBy: "system" },
      keyId: "k",
      lastUsedAt: "2026-11-15T12:00:00Z",
      role: "viewer",
      account: "",
    };
    assert.deepEqual(written("token", stored), { role: "viewer" });
    assert.deepEqual(written("no-such-kind", { a: 1, meta: {} }), { a: 1 });
  });
  it("kinds follow from the protos", () => {
    for (const kind of ["workspace", "pool-config", "service-profile", "change-request"])
      assert.ok(KINDS.includes(kind), kind);
    assert.ok(!KINDS.includes("repo"));
  });
});

describe("differences", () => {
  const shown = (before: string, after: string) =>
    diffLines(before, after).map((hunk) => hunk.map(({ sign, text }) => sign + text));

  it("are shown with three lines around them, far ones apart", () => {
    const lines = Array.from({ length: 20 }, (_, i) => `line ${i}`);
    const changed = lines.map((line, i) => (i === 2 ? "two" : i === 15 ? "fifteen" : line));
    assert.deepEqual(shown(lines.join("\n"), changed.join("\n")), [
      [" line 0", " line 1", "-line 2", "+two", " line 3", " line 4", " line 5"],
      [" line 12", " line 13", " line 14", "-line 15", "+fifteen", " line 16", " line 17", " line 18"],
    ]);
  });
  it("of the same texts are none", () => assert.deepEqual(shown("a\nb", "a\nb"), []));
  it("keep what is common", () => assert.deepEqual(shown("a\nb\nc", "b\nc\nd"), [["-a", " b", " c", "+d"]]));
});

describe("the live view", () => {
  const id = (...agent: string[]) => create(AgentIdSchema, { agent, uid: agent.join("/") });
  // biome-ignore lint/suspicious/noExplicitAny: payloads of every shape
  const event = (type: EventType, kind: any, runId = 1n): WatchResponse =>
    create(WatchResponseSchema, {
      update: {
        case: "event",
        value: create(EventSchema, { type, runId, time: timestampFromMs(T0), payload: { kind } }),
      },
    });
  const phase = (to: Phase, reason = "") =>
    event(EventType.PHASE_CHANGED, { case: "phase", value: { to, reason } });
  const task = (taskId: string, status: TaskStatus) =>
    event(EventType.TASK_UPDATED, {
      case: "task",
      value: { id: taskId, subject: `Do ${taskId}`, status, active: true },
    });
  const play = (view: AgentView, ...responses: WatchResponse[]) => responses.reduce(update, view);
  const draw = (...views: AgentView[]) =>
    treeLines(views, { paint: createPaint(false), columns: 60, nowMs: T0 + 5000, frame: 0 });

  it("shows what runs, its checklist and its children below it", () => {
    const top = play(
      viewOf(id("top"), T0),
      event(EventType.TURN_STARTED, { case: "turnStarted", value: {} }),
      phase(Phase.RUNNING),
      task("a", TaskStatus.COMPLETED),
      task("b", TaskStatus.IN_PROGRESS),
      event(EventType.USAGE, { case: "usage", value: { cost: 0.25 } }),
      event(EventType.TOOL_CALL, { case: "toolCall", value: { title: "hammer" } }),
      create(WatchResponseSchema, { update: { case: "liveText", value: { text: "first\nsec" } } }),
      create(WatchResponseSchema, { update: { case: "liveText", value: { text: "ond" } } }),
    );
    const kid = play(viewOf(id("top", "kid"), T0), phase(Phase.WAITING_FOR_INPUT, "why?"));
    assert.deepEqual(draw(top, kid), [
      "⠋ top  running · 5s · run 1 · $0.25 · ▰▰▰▰▰▱▱▱▱▱ 1/2",
      "│ ☑ Do a",
      "│ ◐ Do b",
      "│ second",
      "└─ ? kid  waiting for input · 5s",
      "     why?",
    ]);
  });

  it("counts the queue, and tells a sleeper's next waking", () => {
    const followUp = (followUpId: string, state: FollowUpState, deliverAtMs?: number) =>
      event(EventType.FOLLOW_UP_QUEUED, {
        case: "followUp",
        value: {
          followUp: {
            followUpId,
            state,
            ...(deliverAtMs ? { deliverAt: timestampFromMs(deliverAtMs) } : {}),
          },
        },
      });
    const asleep = play(
      viewOf(id("top"), T0),
      followUp("a", FollowUpState.QUEUED),
      followUp("b", FollowUpState.QUEUED),
      followUp("a", FollowUpState.DELIVERED),
      followUp("c", FollowUpState.DEFERRED, T0 + 65_000),
      phase(Phase.SLEEPING),
    );
    assert.deepEqual(draw(asleep), ["☾ top  sleeping · wakes in 1m · 1 queued"]);
  });
});

describe("the tree of a list", () => {
  const entry = (path: string, bornMs: number) =>
    create(AgentListEntrySchema, {
      agentId: { agent: path.split("/"), account: "me" },
      createdAt: timestampFromMs(T0 + bornMs),
    });
  const drawn = (...entries: ReturnType<typeof entry>[]) =>
    branches(treeOf(entries)).map(({ branch, name }) => branch + name);

  it("puts each agent below its parent, whatever their order", () => {
    assert.deepEqual(
      drawn(entry("a/b/c", 2), entry("a", 0), entry("d", 0), entry("a/b", 1), entry("a/e", 1)),
      ["a", "├─ b", "│  └─ c", "└─ e", "d"],
    );
  });
  it("puts a child below the incarnation that spawned it", () => {
    assert.deepEqual(drawn(entry("a", 0), entry("a", 10), entry("a/old", 1), entry("a/new", 11)), [
      "a",
      "└─ old",
      "a",
      "└─ new",
    ]);
  });
  it("shows the whole path of one whose parent is not listed", () => {
    assert.deepEqual(drawn(entry("a/b", 1)), ["a/b"]);
  });
});

describe("completion", () => {
  const program = new Command("retinue");
  addClientCommands(program);
  const words = {
    agents: () => ["painter", "painter/kid"],
    kinds: () => ["persona", "workspace"],
    names: (kind: string) => (kind === "persona" ? ["default", "reviewer"] : []),
    contexts: () => ["home"],
  };
  const rows: [string, string[]][] = [
    ["sp", ["spawn"]],
    ["status p", ["painter", "painter/kid"]],
    ["queue ", ["ls", "rm", "clear", "painter", "painter/kid"]],
    ["queue rm pa", ["painter", "painter/kid"]],
    ["tasks pa", ["painter", "painter/kid"]],
    ["ps --out", ["--output"]],
    ["ps -o ", ["table", "json", "yaml"]],
    ["ps --context ", ["home"]],
    ["get pe", ["persona"]],
    ["get persona/r", ["persona/reviewer"]],
    ["edit persona ", ["default", "reviewer"]],
    ["completion z", ["zsh"]],
    ["contexts use ", ["home"]],
    ["apply -f ", []],
  ];
  for (const [line, expected] of rows) {
    it(`retinue ${line}`, async () =>
      assert.deepEqual(await candidates(program, line.split(" "), words), expected));
  }
});
