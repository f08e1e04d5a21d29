import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import { Backend, SettingSource } from "../../../gen/retinue/v1/settings_pb.js";
import type { Agent } from "../../../src/domain/agent/agent.js";
import type { FollowUpRequest } from "../../../src/domain/agent/follow-up.js";
import { clearFollowUps } from "../../../src/domain/agent/queue-edit.js";
import type { SettingValues } from "../../../src/domain/agent/settings.js";
import type { PersonaDocument } from "../../../src/domain/agent/settings-check.js";
import {
  at,
  end,
  followUp,
  persona,
  queue,
  type Refusal,
  refuses,
  running,
  type SpawnOptions,
  spawned,
  typesOf,
} from "./fixtures.js";

const { DEFAULT, WORKSPACE, PERSONA, SPAWN, FOLLOW_UP } = SettingSource;
const document = (more: Partial<NonNullable<PersonaDocument["settings"]>>) => ({
  settings: { model: "", reasoningEffort: "", serviceTier: "", ...more },
});
const values = (agent: Agent): SettingValues => agent.settings.values;
const workspace = (more: Parameters<typeof document>[0]) => document(more).settings;

describe("precedence at spawn: explicit field, persona, workspace default, builtin (semantics 6)", () => {
  const p = persona("p", document({ model: "opus", reasoningEffort: "high", fastMode: true }));
  const w = workspace({ model: "sonnet", reasoningEffort: "low", fastMode: false });
  const rows: [
    row: string,
    options: SpawnOptions,
    name: keyof SettingValues,
    value: unknown,
    source: SettingSource,
  ][] = [
    ["nothing set: the builtin model", {}, "model", "script-a", DEFAULT],
    ["nothing set: no effort", {}, "reasoningEffort", "", DEFAULT],
    ["nothing set: no fast mode", {}, "fastMode", false, DEFAULT],
    ["nothing set: no schema", {}, "outputSchema", "", DEFAULT],
    ["the workspace's model", { settings: { workspace: w } }, "model", "sonnet", WORKSPACE],
    ["the workspace's effort", { settings: { workspace: w } }, "reasoningEffort", "low", WORKSPACE],
    [
      "the persona's over the workspace's model",
      { settings: { workspace: w, persona: p } },
      "model",
      "opus",
      PERSONA,
    ],
    [
      "the persona's over the workspace's effort",
      { settings: { workspace: w, persona: p } },
      "reasoningEffort",
      "high",
      PERSONA,
    ],
    [
      "the persona's fast mode over the workspace's",
      { settings: { workspace: w, persona: p } },
      "fastMode",
      true,
      PERSONA,
    ],
    [
      "the workspace's where the persona has none",
      { settings: { workspace: w, persona: persona("q") } },
      "model",
      "sonnet",
      WORKSPACE,
    ],
    [
      "an explicit model over the persona's",
      { model: "haiku", settings: { workspace: w, persona: p } },
      "model",
      "haiku",
      SPAWN,
    ],
    [
      "an explicit effort over the persona's",
      { reasoningEffort: "max", settings: { persona: p } },
      "reasoningEffort",
      "max",
      SPAWN,
    ],
    [
      "an explicit false over the persona's fast mode",
      { fastMode: false, settings: { persona: p } },
      "fastMode",
      false,
      SPAWN,
    ],
    ["an explicit schema", { outputSchema: "{}" }, "outputSchema", "{}", SPAWN],
    [
      "the persona's schema",
      { settings: { persona: persona("s", { outputSchema: "true" }) } },
      "outputSchema",
      "true",
      PERSONA,
    ],
    ["a tier on backend B", { model: "gpt-5", serviceTier: "flex" }, "serviceTier", "flex", SPAWN],
    [
      "an inherited effort that the chosen backend does not know is skipped",
      { model: "gpt-5", settings: { persona: persona("m", document({ reasoningEffort: "max" })) } },
      "reasoningEffort",
      "",
      DEFAULT,
    ],
    [
      "an inherited tier that the chosen backend does not know is skipped",
      { settings: { workspace: workspace({ serviceTier: "fast" }) } },
      "serviceTier",
      "",
      DEFAULT,
    ],
  ];
  for (const [row, options, name, value, source] of rows) {
    it(row, () => {
      const settings = values(spawned(options));
      assert.deepEqual([settings[name], settings.sources[name]], [value, source]);
    });
  }
  const backends: [row: string, options: SpawnOptions, backend: Backend][] = [
    ["the builtin default is backend A", {}, Backend.A],
    ["an explicit model decides the backend", { model: "gpt-5" }, Backend.B],
    ["script-b is backend B's", { model: "script-b" }, Backend.B],
    [
      "a persona's model decides it",
      { settings: { persona: persona("p", document({ model: "o3" })) } },
      Backend.B,
    ],
    ["a workspace's model decides it", { settings: { workspace: workspace({ model: "codex" }) } }, Backend.B],
    [
      "an explicit model on the other backend than the persona's overrides it",
      { model: "opus", settings: { persona: persona("p", document({ model: "o3" })) } },
      Backend.A,
    ],
  ];
  for (const [row, options, backend] of backends) {
    it(row, () => assert.equal(values(spawned(options)).backend, backend));
  }
  const refused: [row: string, options: SpawnOptions, refusal: Refusal][] = [
    [
      "a model that no rule knows",
      { model: "x" },
      { code: Code.INVALID_ARGUMENT, reason: "MODEL_UNKNOWN", field: "model" },
    ],
    [
      "a persona's model that no rule knows",
      { settings: { persona: persona("p", document({ model: "x" })) } },
      { code: Code.INVALID_ARGUMENT, reason: "MODEL_UNKNOWN", field: "agent" },
    ],
    [
      "an effort of the other backend",
      { reasoningEffort: "none" },
      { code: Code.INVALID_ARGUMENT, reason: "EFFORT_INVALID" },
    ],
    ["a tier on backend A", { serviceTier: "flex" }, { code: Code.INVALID_ARGUMENT, reason: "TIER_INVALID" }],
    [
      "a schema over 64 KiB",
      { outputSchema: "x".repeat(65_537) },
      { code: Code.INVALID_ARGUMENT, reason: "FIELD_TOO_LONG" },
    ],
  ];
  for (const [row, options, refusal] of refused) {
    it(`refused: ${row}`, () => refuses(() => spawned(options), refusal));
  }
  for (const [backend, model, efforts] of [
    ["A", "script-a", ["low", "medium", "high", "xhigh", "max"]],
    ["B", "script-b", ["none", "low", "medium", "high", "xhigh"]],
  ] as const) {
    for (const reasoningEffort of efforts) {
      it(`backend ${backend} takes the effort ${reasoningEffort}`, () => {
        assert.equal(values(spawned({ model, reasoningEffort })).reasoningEffort, reasoningEffort);
      });
    }
  }
  for (const serviceTier of ["standard", "fast", "flex"]) {
    it(`backend B takes the tier ${serviceTier}`, () => {
      assert.equal(values(spawned({ model: "script-b", serviceTier })).serviceTier, serviceTier);
    });
  }
});

describe("settings of follow-ups (interface 4.1; semantics 6)", () => {
  const send = (agent: Agent, more: Partial<FollowUpRequest>, document?: PersonaDocument) =>
    queue(agent, followUp("", more), at(), { persona: document, mintedId: `m${agent.counters.arrivals}` })
      .agent;
  const deliver = (agent: Agent) => end(agent).agent;

  it("apply at delivery, with their source", () => {
    const queued = send(running(), {
      model: "opus",
      reasoningEffort: "max",
      fastMode: true,
      outputSchema: "{}",
    });
    assert.equal(values(queued).model, "script-a");
    const settings = values(deliver(queued));
    assert.deepEqual(
      [settings.model, settings.reasoningEffort, settings.fastMode, settings.outputSchema],
      ["opus", "max", true, "{}"],
    );
    assert.equal(settings.sources.model, FOLLOW_UP);
  });
  it("are sticky: later turns keep them, and empty leaves them unchanged", () => {
    const first = deliver(send(running(), { model: "opus", fastMode: true }));
    const second = values(end(send(first, { reasoningEffort: "low" })).agent);
    assert.deepEqual([second.model, second.fastMode, second.reasoningEffort], ["opus", true, "low"]);
  });
  it("a fast mode said false is set, one left out is not", () => {
    const on = deliver(send(running(), { fastMode: true }));
    assert.equal(values(end(send(on, {})).agent).fastMode, true);
    assert.equal(values(end(send(on, { fastMode: false })).agent).fastMode, false);
  });
  it("a cleared message applies nothing", () => {
    const { agent } = clearFollowUps(send(running(), { model: "opus" }), at());
    assert.equal(values(end(agent).agent).model, "script-a");
  });
  it("a change is told once, a message without settings tells nothing", () => {
    assert.ok(typesOf(end(send(running(), { model: "opus" }))).includes("SETTINGS_CHANGED"));
    assert.ok(!typesOf(end(send(running(), {}))).includes("SETTINGS_CHANGED"));
  });
  it("a persona brings its settings where nothing explicit is set", () => {
    const settings = values(
      deliver(send(running(), { agent: "p" }, persona("p", document({ model: "opus" })))),
    );
    assert.deepEqual([settings.agent, settings.model, settings.sources.agent], ["p", "opus", FOLLOW_UP]);
    assert.equal(settings.sources.model, PERSONA);
  });
  it("an explicit model of the same message overrides the persona's", () => {
    const agent = send(running(), { agent: "p", model: "haiku" }, persona("p", document({ model: "opus" })));
    assert.equal(values(deliver(agent)).model, "haiku");
  });
  it("an explicit model of the spawn stays above a persona that comes later", () => {
    const agent = send(
      running({ model: "haiku" }),
      { agent: "p" },
      persona("p", document({ model: "opus" })),
    );
    assert.equal(values(deliver(agent)).model, "haiku");
  });
  it("a persona whose model is on the other backend: INVALID_ARGUMENT", () => {
    refuses(() => send(running(), { agent: "p" }, persona("p", document({ model: "o3" }))), {
      code: Code.INVALID_ARGUMENT,
      reason: "CROSS_BACKEND",
      field: "agent",
    });
  });
  it("unless an explicit model overrides it anyway", () => {
    const agent = send(running({ model: "haiku" }), { agent: "p" }, persona("p", document({ model: "o3" })));
    assert.equal(values(deliver(agent)).model, "haiku");
  });
  it("the persona's generation is pinned when the message is accepted", () => {
    const agent = send(running(), { agent: "p" }, persona("p", { generation: 7 }));
    assert.equal(agent.queued[0]?.settings.persona?.generation, 7);
    assert.equal(deliver(agent).settings.persona.generation, 7);
  });
  it("a persona without a model falls back to the workspace's", () => {
    const agent = running({
      settings: {
        workspace: workspace({ model: "sonnet" }),
        persona: persona("p", document({ model: "opus" })),
      },
    });
    assert.deepEqual(values(deliver(send(agent, { agent: "q" }, persona("q")))).model, "sonnet");
  });
  it("and keeps the model it has where only the other backend's are left: the backend is for life", () => {
    const agent = running({
      settings: {
        workspace: workspace({ model: "sonnet" }),
        persona: persona("p", document({ model: "o3" })),
      },
    });
    const settings = values(deliver(send(agent, { agent: "q" }, persona("q"))));
    assert.deepEqual([settings.model, settings.backend], ["o3", Backend.B]);
  });
  it("the workspace's default is pinned at spawn: no message reads it again", () => {
    assert.equal(
      running({ settings: { workspace: workspace({ reasoningEffort: "low" }) } }).settings.workspace
        .reasoningEffort,
      "low",
    );
  });
});
