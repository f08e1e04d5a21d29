import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import { EventType } from "../../../gen/retinue/v1/event_pb.js";
import { TaskStatus } from "../../../gen/retinue/v1/task_pb.js";
import type { Agent } from "../../../src/domain/agent/agent.js";
import type { Decision } from "../../../src/domain/agent/decision.js";
import { killAgent, processesEnded } from "../../../src/domain/agent/kill.js";
import { clearFollowUps } from "../../../src/domain/agent/queue-edit.js";
import { repoPushed } from "../../../src/domain/agent/repo-push.js";
import { type TaskInput, visibleTasks } from "../../../src/domain/agent/task.js";
import { createTasks } from "../../../src/domain/agent/task-create.js";
import { STATUS_CHANGES, updateTask } from "../../../src/domain/agent/task-update.js";
import {
  at,
  end,
  fenceOf,
  followUp,
  lose,
  onPush,
  persona,
  platform,
  prompted,
  queue,
  queueAll,
  type Refusal,
  refuses,
  resting,
  running,
  sound,
  start,
  stop,
  task,
  typesOf,
} from "./fixtures.js";

const { PENDING, IN_PROGRESS, COMPLETED, DELETED, UNSPECIFIED } = TaskStatus;
type Status = keyof typeof STATUS_CHANGES;

const create = (agent: Agent, ...tasks: TaskInput[]) => sound(createTasks(agent, tasks, at()));
const update = (agent: Agent, id: string, more: Partial<TaskInput>, paths: string[] = []) =>
  sound(updateTask(agent, { task: task(id, { subject: "", ...more }), paths }, at()));
const get = (agent: Agent, id: string) => agent.tasks.find((t) => t.id === id);
const ids = (agent: Agent) => agent.tasks.map((t) => t.id);
const push = (agent: Agent, ...files: string[]) =>
  sound(repoPushed(agent, { ...fenceOf(agent), repo: "r", branch: "b", commit: "c", files }, at()));
const taskEvents = (decision: Decision<unknown>) =>
  decision.events.flatMap(({ type, detail }) =>
    detail.case === "task" ? [`${EventType[type]} ${detail.value?.id}`] : [],
  );

describe("task status (semantics 5)", () => {
  const rows: [row: string, from: Status, to: Status, rule: string][] = [
    ["PENDING → IN_PROGRESS", PENDING, IN_PROGRESS, "ready"],
    ["PENDING → COMPLETED", PENDING, COMPLETED, "ready"],
    ["PENDING → DELETED", PENDING, DELETED, "free"],
    ["PENDING stays", PENDING, PENDING, "free"],
    ["IN_PROGRESS → COMPLETED", IN_PROGRESS, COMPLETED, "ready"],
    ["IN_PROGRESS back to PENDING", IN_PROGRESS, PENDING, "free"],
    ["IN_PROGRESS → DELETED", IN_PROGRESS, DELETED, "free"],
    ["IN_PROGRESS stays", IN_PROGRESS, IN_PROGRESS, "free"],
    ["COMPLETED back to PENDING", COMPLETED, PENDING, "free"],
    ["COMPLETED back to IN_PROGRESS", COMPLETED, IN_PROGRESS, "ready"],
    ["COMPLETED → DELETED", COMPLETED, DELETED, "free"],
    ["COMPLETED stays", COMPLETED, COMPLETED, "free"],
    ["DELETED is final: not PENDING", DELETED, PENDING, "final"],
    ["DELETED is final: not IN_PROGRESS", DELETED, IN_PROGRESS, "final"],
    ["DELETED is final: not COMPLETED", DELETED, COMPLETED, "final"],
    ["DELETED stays: deleting twice is no error", DELETED, DELETED, "free"],
  ];
  const withStatus = (status: Status) => {
    const agent = running({ tasks: [task("t")] });
    return status === PENDING ? agent : update(agent, "t", { status }).agent;
  };
  for (const [row, from, to, rule] of rows) {
    it(row, () => {
      assert.equal(STATUS_CHANGES[from][to], rule);
      const agent = withStatus(from);
      if (rule === "final") {
        refuses(() => update(agent, "t", { status: to }), {
          code: Code.FAILED_PRECONDITION,
          reason: "TASK_DELETED",
        });
      } else {
        assert.equal(update(agent, "t", { status: to }).reply.task.status, to);
      }
    });
    if (rule !== "ready") continue;
    it(`${row} needs the blockers COMPLETED or DELETED`, () => {
      const blocked = create(withStatus(from), task("b", { blocks: ["t"] })).agent;
      refuses(() => update(blocked, "t", { status: to }), {
        code: Code.FAILED_PRECONDITION,
        reason: "TASK_BLOCKED",
      });
      for (const status of [COMPLETED, DELETED]) {
        const freed = update(blocked, "b", { status }).agent;
        assert.equal(update(freed, "t", { status: to }).reply.task.status, to);
      }
    });
    it(`${row} needs the task active`, () => {
      const agent = update(withStatus(from), "t", onPush("t", "*.ts"), ["activation"]).agent;
      refuses(() => update(agent, "t", { status: to }), {
        code: Code.FAILED_PRECONDITION,
        reason: "TASK_INACTIVE",
      });
    });
  }
  it("the table has no other rows", () => assert.equal(rows.length, 16));
  it("an inactive blocker does not block", () => {
    const agent = create(running({ tasks: [task("t")] }), { ...onPush("b", ""), blocks: ["t"] }).agent;
    assert.equal(update(agent, "t", { status: COMPLETED }).reply.task.status, COMPLETED);
  });
  it("repeating the status is no event", () => {
    const agent = running({ tasks: [task("t")] });
    const decision = update(agent, "t", { status: PENDING });
    assert.equal(decision.agent, agent);
  });
  it("deleting is told as such", () => {
    assert.deepEqual(taskEvents(update(running({ tasks: [task("t")] }), "t", { status: DELETED })), [
      "TASK_DELETED t",
    ]);
  });
});

describe("creating tasks (semantics 5; semantics 1, row 15)", () => {
  const INVALID = Code.INVALID_ARGUMENT;
  const EXISTS: Refusal = { code: Code.ALREADY_EXISTS, reason: "TASK_ID_TAKEN" };
  const base = () => running({ tasks: [task("t")] });
  const pending = () => queue(base(), followUp("f", { tasks: [task("p")] })).agent;
  const rows: [row: string, agent: () => Agent, tasks: TaskInput[], refusal: Refusal][] = [
    [
      "persona is platform-set",
      base,
      [task("a", { persona: "x" })],
      { code: INVALID, reason: "TASK_FIELD_RESERVED", field: "tasks[0].persona" },
    ],
    [
      "dedupKey is platform-set",
      base,
      [task("a"), task("b", { dedupKey: "x" })],
      { code: INVALID, reason: "TASK_FIELD_RESERVED", field: "tasks[1].dedupKey" },
    ],
    [
      "ephemeral is platform-set",
      base,
      [task("a", { ephemeral: true })],
      { code: INVALID, reason: "TASK_FIELD_RESERVED" },
    ],
    [
      "DELETED on create",
      base,
      [task("a", { status: DELETED })],
      { code: INVALID, reason: "TASK_STATUS_INVALID" },
    ],
    [
      "a status that does not exist",
      base,
      [task("a", { status: 9 as TaskStatus })],
      { code: INVALID, reason: "TASK_STATUS_INVALID" },
    ],
    ["an ID of the list", base, [task("t")], EXISTS],
    ["an ID of a deleted task", () => update(base(), "t", { status: DELETED }).agent, [task("t")], EXISTS],
    ["an ID of an undelivered message", pending, [task("p")], EXISTS],
    ["an ID that stands twice", base, [task("a"), task("a")], { code: INVALID, reason: "TASK_ID_TWICE" }],
    ["an ID of 129 characters", base, [task("x".repeat(129))], { code: INVALID, reason: "FIELD_TOO_LONG" }],
    [
      "an unknown blocker",
      base,
      [task("a", { blockedBy: ["?"] })],
      { code: INVALID, reason: "TASK_UNKNOWN" },
    ],
    [
      "an unknown blocked task",
      base,
      [task("a", { blocks: ["?"] })],
      { code: INVALID, reason: "TASK_UNKNOWN" },
    ],
    [
      "a task that blocks itself",
      base,
      [task("a", { blocks: ["a"] })],
      { code: INVALID, reason: "TASK_CYCLE" },
    ],
    [
      "a ring in the request",
      base,
      [task("a", { blocks: ["b"] }), task("b", { blocks: ["a"] })],
      { code: INVALID, reason: "TASK_CYCLE" },
    ],
    [
      "a ring through the list",
      base,
      [task("a", { blocks: ["t"], blockedBy: ["t"] })],
      { code: INVALID, reason: "TASK_CYCLE" },
    ],
    [
      "a ring through a message",
      () => queue(base(), followUp("f", { tasks: [task("p", { blocks: ["t"] })] })).agent,
      [task("a", { blocks: ["p"], blockedBy: ["t"] })],
      { code: INVALID, reason: "TASK_CYCLE" },
    ],
    [
      "a pattern over 256 characters",
      base,
      [onPush("a", "x".repeat(257))],
      { code: INVALID, reason: "PATTERN_INVALID" },
    ],
    ["a pattern that is broken", base, [onPush("a", "{a")], { code: INVALID, reason: "PATTERN_INVALID" }],
    [
      "begun although blocked",
      base,
      [task("a", { status: IN_PROGRESS, blockedBy: ["t"] })],
      { code: Code.FAILED_PRECONDITION, reason: "TASK_BLOCKED" },
    ],
    [
      "done although inactive",
      base,
      [{ ...onPush("a", "*"), status: COMPLETED }],
      { code: Code.FAILED_PRECONDITION, reason: "TASK_INACTIVE" },
    ],
    [
      "the 501st task",
      base,
      Array.from({ length: 500 }, (_, i) => task(`n${i}`)),
      { code: Code.RESOURCE_EXHAUSTED, reason: "TASKS_FULL" },
    ],
    [
      "the 501st task, messages counted",
      pending,
      Array.from({ length: 499 }, (_, i) => task(`n${i}`)),
      { code: Code.RESOURCE_EXHAUSTED, reason: "TASKS_FULL" },
    ],
  ];
  for (const [row, agent, tasks, refusal] of rows) {
    it(`refused by task creation: ${row}`, () => refuses(() => create(agent(), ...tasks), refusal));
    it(`refused by queue-add: ${row}`, () =>
      refuses(() => queue(agent(), followUp("new", { tasks })), refusal));
  }
  const dead: [string, () => Agent, string][] = [
    ["terminal", () => processesEnded(killAgent(base(), "killed", at()).agent, at()).agent, "AGENT_TERMINAL"],
    ["STOPPING", () => killAgent(base(), "killed", at()).agent, "AGENT_STOPPING"],
  ];
  for (const [row, agent, reason] of dead) {
    it(`task writes on a ${row} agent: NOT_FOUND`, () => {
      refuses(() => create(agent(), task("a")), { code: Code.NOT_FOUND, reason });
      refuses(() => update(agent(), "t", { status: COMPLETED }), { code: Code.NOT_FOUND, reason });
    });
  }
  it("status as sent, unset = PENDING", () => {
    const { agent } = create(
      base(),
      task("a"),
      task("b", { status: IN_PROGRESS }),
      task("c", { status: COMPLETED }),
    );
    assert.deepEqual(
      [get(agent, "a"), get(agent, "b"), get(agent, "c")].map((t) => t?.status),
      [PENDING, IN_PROGRESS, COMPLETED],
    );
  });
  it("IDs are minted where none is sent, and never given twice", () => {
    const { reply } = create(running({ tasks: [task("task-1")] }), task(""), task("task-3"), task(""));
    assert.deepEqual(
      reply.tasks.map(({ id }) => id),
      ["task-2", "task-3", "task-4"],
    );
  });
  it("tasks may name one another, and a begun one with a completed blocker is right", () => {
    const { agent } = create(
      base(),
      task("a", { status: COMPLETED }),
      task("b", { blockedBy: ["a"], status: IN_PROGRESS }),
    );
    assert.deepEqual(get(agent, "a")?.blocks, ["b"]);
  });
  it("edges are symmetric, whichever side names them, and the other task is told of", () => {
    const decision = create(base(), task("a", { blocks: ["t"] }));
    assert.deepEqual(get(decision.agent, "t")?.blockedBy, ["a"]);
    assert.deepEqual(taskEvents(decision), ["TASK_UPDATED t", "TASK_CREATED a"]);
  });
  it("all or none: one bad task refuses the rest", () => {
    refuses(() => create(base(), task("good"), task("t")), EXISTS);
  });
});

describe("updating tasks", () => {
  const base = () => running({ tasks: [task("a"), task("b", { blockedBy: ["a"] }), task("c")] });
  it("only the fields of the mask change, zero values included", () => {
    const described = update(base(), "a", { description: "x", subject: "y" }).agent;
    const next = update(described, "a", { subject: "z" }, ["description"]).reply.task;
    assert.deepEqual([next.description, next.subject], ["", "y"]);
  });
  it("edges that are dropped go on both sides", () => {
    const next = update(base(), "b", { blockedBy: ["c"] }, ["blocked_by"]).agent;
    assert.deepEqual([get(next, "a")?.blocks, get(next, "c")?.blocks], [[], ["b"]]);
  });
  it("edges can be cleared by the mask", () => {
    assert.deepEqual(get(update(base(), "b", {}, ["blockedBy"]).agent, "a")?.blocks, []);
  });
  const refused: [row: string, id: string, more: Partial<TaskInput>, paths: string[], refusal: Refusal][] = [
    ["no ID", "", { subject: "x" }, [], { code: Code.INVALID_ARGUMENT, reason: "FIELD_REQUIRED" }],
    ["an unknown task", "x", { subject: "x" }, [], { code: Code.NOT_FOUND, reason: "TASK_NOT_FOUND" }],
    ["nothing to change", "a", {}, [], { code: Code.INVALID_ARGUMENT, reason: "FIELD_REQUIRED" }],
    [
      "a mask that names no field",
      "a",
      {},
      ["colour"],
      { code: Code.INVALID_ARGUMENT, reason: "MASK_INVALID" },
    ],
    ["a mask that names the ID", "a", {}, ["id"], { code: Code.INVALID_ARGUMENT, reason: "MASK_INVALID" }],
    [
      "a platform-set field",
      "a",
      { ephemeral: true },
      [],
      { code: Code.INVALID_ARGUMENT, reason: "TASK_FIELD_RESERVED" },
    ],
    [
      "a platform-set field in the mask",
      "a",
      {},
      ["persona"],
      { code: Code.INVALID_ARGUMENT, reason: "MASK_INVALID" },
    ],
    [
      "a status of UNSPECIFIED",
      "a",
      { status: UNSPECIFIED },
      ["status"],
      { code: Code.INVALID_ARGUMENT, reason: "TASK_STATUS_INVALID" },
    ],
    [
      "a ring",
      "a",
      { blockedBy: ["b"] },
      ["blockedBy"],
      { code: Code.INVALID_ARGUMENT, reason: "TASK_CYCLE" },
    ],
    [
      "itself as blocker",
      "a",
      { blockedBy: ["a"] },
      ["blockedBy"],
      { code: Code.INVALID_ARGUMENT, reason: "TASK_CYCLE" },
    ],
    [
      "an unknown blocker",
      "a",
      { blockedBy: ["x"] },
      [],
      { code: Code.INVALID_ARGUMENT, reason: "TASK_UNKNOWN" },
    ],
    [
      "a broken pattern",
      "a",
      onPush("a", "[x"),
      ["activation"],
      { code: Code.INVALID_ARGUMENT, reason: "PATTERN_INVALID" },
    ],
  ];
  for (const [row, id, more, paths, refusal] of refused) {
    it(`refused: ${row}`, () => refuses(() => update(base(), id, more, paths), refusal));
  }
  it("the new edges count for a status set with them", () => {
    const next = update(base(), "b", { status: COMPLETED, blockedBy: [] }, ["status", "blockedBy"]);
    assert.equal(next.reply.task.status, COMPLETED);
  });
  it("deleted tasks are remembered, but not without end", () => {
    let agent = running();
    for (let i = 0; i < 510; i++) {
      agent = createTasks(agent, [task(`n${i}`)], at()).agent;
      agent = updateTask(agent, { task: task(`n${i}`, { status: DELETED }), paths: ["status"] }, at()).agent;
    }
    assert.deepEqual([agent.tasks.length, agent.tasks[0]?.id], [500, "n10"]);
  });
});

describe("tasks of messages (semantics 5)", () => {
  it("apply at delivery, not before", () => {
    const queued = queue(running(), followUp("f", { tasks: [task("t")] })).agent;
    assert.deepEqual(ids(queued), []);
    assert.deepEqual(ids(end(queued).agent), ["t"]);
  });
  it("a cleared message applies nothing, and its IDs are free again", () => {
    const queued = queue(running(), followUp("f", { tasks: [task("t")] })).agent;
    const { agent } = clearFollowUps(queued, at());
    assert.deepEqual(ids(create(agent, task("t")).agent), ["t"]);
  });
  it("may name tasks of messages that come earlier or later; an edge holds once both are there", () => {
    let agent = queue(running(), followUp("f1", { tasks: [task("a")] })).agent;
    agent = queue(agent, followUp("f2", { tasks: [task("b", { blockedBy: ["a"] })] })).agent;
    agent = end(end(agent).agent).agent;
    assert.deepEqual([get(agent, "a")?.blocks, get(agent, "b")?.blockedBy], [["b"], ["a"]]);
  });
  it("an edge to a task whose message was cleared is in nobody's way", () => {
    let agent = queue(
      running({ tasks: [task("t"), task("u")] }),
      followUp("f", { tasks: [task("gone")] }),
    ).agent;
    agent = update(agent, "t", { blockedBy: ["gone"] }).agent;
    agent = clearFollowUps(agent, at()).agent;
    assert.equal(update(agent, "t", { status: COMPLETED }).reply.task.status, COMPLETED);
    assert.deepEqual(update(agent, "t", { blocks: ["u"] }).reply.task.blockedBy, []);
  });
  it("what has become untrue since is delivered as PENDING", () => {
    let agent = queue(
      running({ tasks: [task("a", { status: COMPLETED })] }),
      followUp("f", { tasks: [task("b", { blockedBy: ["a"], status: COMPLETED })] }),
    ).agent;
    agent = update(agent, "a", { status: PENDING }).agent;
    assert.equal(get(end(agent).agent, "b")?.status, PENDING);
  });
  it("the tasks of a spawn are there at once", () => {
    assert.deepEqual(ids(running({ tasks: [task("t")] })), ["t"]);
  });
});

describe("activation filesModified (semantics 5)", () => {
  const base = () => running({ tasks: [onPush("t", "src/**/*.ts"), onPush("any", ""), task("plain")] });
  const active = (agent: Agent) => agent.tasks.filter((t) => t.active).map(({ id }) => id);
  it("off at first; inactive tasks are not shown to the agent", () => {
    assert.deepEqual(
      visibleTasks(base()).map(({ id }) => id),
      ["plain"],
    );
  });
  it("on from the first push of this run that touches a matching path; empty = any", () => {
    const decision = push(base(), "docs/a.md");
    assert.deepEqual(active(decision.agent), ["any", "plain"]);
    assert.deepEqual(typesOf(decision), ["REPO_PUSHED", "TASK_ACTIVATED"]);
    assert.deepEqual(active(push(decision.agent, "src/x/y.ts").agent), ["t", "any", "plain"]);
  });
  it("a push that touches nothing activates nothing", () =>
    assert.deepEqual(active(push(base()).agent), ["plain"]));
  it("off again when the next run starts", () => {
    const agent = end(queueAll(push(base(), "src/a.ts").agent, ["f"])).agent;
    assert.deepEqual(active(agent), ["plain"]);
  });
  it("stays on until then, and through a recovery of the same run", () => {
    const agent = push(base(), "src/a.ts").agent;
    assert.deepEqual(active(lose(agent, "outage").agent), ["t", "any", "plain"]);
    assert.deepEqual(active(end(agent).agent), ["t", "any", "plain"]);
  });
  it("inactive tasks do not hold the agent back", () => {
    const agent = running({ idlePolicy: 2, tasks: [onPush("t", "")] });
    assert.equal(end(agent).reply.next, "ended");
    assert.equal(end(push(agent, "x").agent).reply.next, "reminder");
  });
  it("a task deleted meanwhile is not woken", () => {
    const agent = update(base(), "t", { status: DELETED }).agent;
    assert.deepEqual(active(push(agent, "src/a.ts").agent), ["any", "plain"]);
  });
});

describe("persona switch at delivery (semantics 5; interface 2.4)", () => {
  const p1 = persona("p1", { tasks: [{ id: "lint", subject: "lint", description: "", blockedBy: [] }] });
  const p2 = persona("p2", {
    tasks: [
      { id: "lint", subject: "lint 2", description: "", blockedBy: [] },
      { id: "test", subject: "test", description: "", blockedBy: ["lint"] },
    ],
  });
  const first = () => running({ tasks: [task("own")], settings: { persona: p1 } });
  const switched = (agent: Agent, to = p2) =>
    queue(agent, followUp("f", { agent: to.name, tasks: [task("new")] }), at(), { persona: to }).agent;
  it("the persona of the spawn brings its tasks along, tagged", () => {
    assert.deepEqual(
      first().tasks.map(({ id, persona: tag }) => `${id} ${tag}`),
      ["own ", "lint p1"],
    );
  });
  it("nothing changes before delivery", () => assert.deepEqual(ids(switched(first())), ["own", "lint"]));
  it("exactly the tasks tagged with the old persona go, the new persona's come", () => {
    const agent = end(switched(first())).agent;
    assert.deepEqual(
      agent.tasks.map(({ id, persona: tag }) => `${id} ${tag}`),
      ["own ", "new ", "lint p2", "test p2"],
    );
    assert.deepEqual(get(agent, "lint")?.blocks, ["test"]);
  });
  it("the old one's are told as deleted, the new one's as created", () => {
    assert.deepEqual(taskEvents(end(switched(first()))), [
      "TASK_DELETED lint",
      "TASK_CREATED new",
      "TASK_CREATED lint",
      "TASK_CREATED test",
    ]);
  });
  it("back again brings the same IDs back", () => {
    const there = end(switched(first())).agent;
    const back = queue(there, followUp("g", { agent: "p1" }), at(), { persona: p1 }).agent;
    assert.deepEqual(ids(end(back).agent), ["own", "new", "lint"]);
  });
  it("an ID that is taken gets the persona in front, in its edges too", () => {
    const agent = end(switched(running({ tasks: [task("lint")] }))).agent;
    assert.deepEqual(ids(agent), ["lint", "new", "p2/lint", "test"]);
    assert.deepEqual(get(agent, "test")?.blockedBy, ["p2/lint"]);
  });
  it("naming the persona in force at the same generation is no switch", () => {
    const agent = end(switched(update(first(), "lint", { status: COMPLETED }).agent, p1)).agent;
    assert.equal(get(agent, "lint")?.status, COMPLETED);
  });
  it("a new generation of the same persona is one", () => {
    const agent = end(switched(first(), { ...p1, generation: 2, tasks: [] })).agent;
    assert.deepEqual(ids(agent), ["own", "new"]);
  });
  it("a cleared message switches nothing", () => {
    const { agent } = clearFollowUps(switched(first()), at());
    assert.deepEqual(ids(end(agent).agent), ["own", "lint"]);
  });
});

describe("ephemeral tasks (semantics 5; interface 2.4)", () => {
  const reviewed = () => prompted(start(platform(resting({ tasks: [task("own")] }), "p", ["thread-1"])));
  it("come with the follow-up that delivers them", () => assert.equal(reviewed().tasks.length, 2));
  const outcomes: [string, (agent: Agent) => Agent][] = [
    ["ended plainly", (agent) => end(agent).agent],
    ["interrupted", (agent) => end(stop(agent, 1).agent).agent],
    ["killed", (agent) => lose(stop(agent, 2).agent, "failure").agent],
    ["failed", (agent) => lose(agent, "fatal").agent],
    ["killed with the agent", (agent) => killAgent(agent, "killed", at()).agent],
    ["followed at once by the next run", (agent) => end(queueAll(agent, ["f"])).agent],
  ];
  for (const [row, finish] of outcomes) {
    it(`end with their run when it ${row}`, () => assert.deepEqual(ids(finish(reviewed())), ["own"]));
  }
  it("live through a recovery of the run", () =>
    assert.equal(lose(reviewed(), "outage").agent.tasks.length, 2));
  it("removing them takes their edges along", () => {
    const agent = reviewed();
    const ephemeral = agent.tasks.find((t) => t.ephemeral)?.id ?? "";
    const linked = update(agent, "own", { blockedBy: [ephemeral] }).agent;
    assert.deepEqual(get(end(linked).agent, "own")?.blockedBy, []);
  });
});
