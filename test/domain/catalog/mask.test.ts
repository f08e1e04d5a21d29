import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type DescField, type DescMessage, equals, type Message, toJson } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import fc from "fast-check";
import {
  ModelSchema,
  PersonaSchema,
  PersonaTaskSchema,
  PoolConfigSchema,
  TokenSchema,
  VariableSchema,
  WorkspaceSchema,
} from "../../../gen/retinue/v1/catalog_pb.js";
import { SettingsSchema } from "../../../gen/retinue/v1/settings_pb.js";
import { TaskActivationSchema } from "../../../gen/retinue/v1/task_pb.js";
import { applyMask, isFullReplace, resolveMask } from "../../../src/domain/catalog/mask.js";
import { invalidAt } from "../fault-of.js";
import { arbitraryMessage } from "./arbitrary-message.js";

test("an empty mask and `*` alone replace the whole document", () => {
  assert.equal(isFullReplace([]), true);
  assert.equal(isFullReplace(["*"]), true);
  assert.equal(isFullReplace(["*", "agent"]), false);
  assert.equal(isFullReplace(["agent"]), false);
  assert.equal(isFullReplace([""]), false);
});

const resolved = [
  [["display_name"], ["displayName"], "a field of the document"],
  [["displayName"], ["displayName"], "its JSON name, as a gRPC caller may send it"],
  [["settings.reasoning_effort"], ["settings.reasoningEffort"], "a field of a message in it"],
  [["meta.created_at"], ["meta.createdAt"], "what only the server writes: harmless, and stripped elsewhere"],
  [["repos", "settings"], ["repos", "settings"], "a list and a message, whole"],
  [["agent", "agent", "display_name", "displayName"], ["agent", "displayName"], "the same path twice, once"],
] as const;

for (const [paths, texts, sentence] of resolved) {
  test(`a mask may name ${sentence}`, () => {
    assert.deepEqual(
      resolveMask(WorkspaceSchema, [...paths]).map((path) => path.text),
      texts,
    );
  });
}

const ALL = "meta, displayName, description, default, repos, environment, agent, settings";

const refused = [
  [WorkspaceSchema, ["nope"], `"nope": the document has no field "nope"; it has ${ALL}`, "an unknown field"],
  [
    WorkspaceSchema,
    ["settings.reasoning_efort"],
    `"settings.reasoningEfort": settings has no field "reasoningEfort"; it has model, reasoningEffort, serviceTier, fastMode`,
    "an unknown field further down",
  ],
  [WorkspaceSchema, ["agent", "nope"], `"nope": the document`, "an unknown field after a known one"],
  [WorkspaceSchema, ["repos.name"], `"repos.name": repos is a list, which is replaced whole`, "below a list"],
  [WorkspaceSchema, ["repos[0]"], `the document has no field "repos[0]"`, "an item of a list"],
  [SettingsSchema, ["sources.model"], `sources is a map, which is replaced whole`, "below a map"],
  [WorkspaceSchema, ["agent.x"], `"agent.x": agent is a single value`, "below a scalar"],
  [ModelSchema, ["backend.x"], `backend is a single value`, "below an enum"],
  [
    TokenSchema,
    ["expires_at.seconds"],
    `"expiresAt.seconds": expiresAt is a single value`,
    "below a timestamp",
  ],
  [
    VariableSchema,
    ["source"],
    `the document has no field "source"; it has name, value, secret`,
    "a oneof by its name",
  ],
  [WorkspaceSchema, [""], `the document has no field ""`, "nothing"],
  [WorkspaceSchema, ["settings."], `settings has no field ""`, "nothing after a dot"],
  [WorkspaceSchema, ["settings.*"], `settings has no field "*"`, "a star further down"],
  [WorkspaceSchema, ["*", "agent"], "'*' replaces the whole document and stands alone", "a star with others"],
  [WorkspaceSchema, ["*", "*"], "'*' replaces the whole document and stands alone", "two stars"],
  [
    WorkspaceSchema,
    ["__proto__"],
    "the document has no field",
    "what JavaScript objects have without being asked",
  ],
  [WorkspaceSchema, ["constructor"], "the document has no field", "the same, another one"],
] as const;

for (const [schema, paths, says, sentence] of refused) {
  test(`a mask may not name ${sentence}`, () => {
    const text = invalidAt("updateMask", () => resolveMask(schema as DescMessage, paths));
    assert.ok(text.startsWith("updateMask: ") && text.includes(says), text);
  });
}

const target = {
  displayName: "old",
  agent: "old",
  default: true,
  repos: [{ name: "a", url: "/a" }],
  settings: { model: "opus", reasoningEffort: "low", fastMode: true },
};

const patched = [
  [["agent"], { agent: "new" }, { agent: "new" }, "takes a field from the patch"],
  [
    ["agent"],
    { displayName: "new", agent: "new" },
    { agent: "new" },
    "leaves alone what the mask does not name",
  ],
  [["agent"], {}, { agent: undefined }, "clears what the mask names and the patch lacks"],
  [["default"], { default: false }, { default: undefined }, "takes zero values: false"],
  [["agent"], { agent: "" }, { agent: undefined }, "takes zero values: the empty string"],
  [["repos"], { repos: [{ name: "b" }] }, { repos: [{ name: "b" }] }, "replaces lists whole"],
  [["repos"], {}, { repos: undefined }, "empties lists"],
  [["settings"], { settings: { model: "o3" } }, { settings: { model: "o3" } }, "replaces messages whole"],
  [["settings"], { settings: {} }, { settings: {} }, "replaces a message by an empty one"],
  [["settings"], {}, { settings: undefined }, "clears messages"],
  [
    ["settings.model"],
    { settings: { model: "sonnet", reasoningEffort: "max" } },
    { settings: { model: "sonnet", reasoningEffort: "low", fastMode: true } },
    "changes one field of a message and never its neighbours",
  ],
  [
    ["settings.model"],
    {},
    { settings: { reasoningEffort: "low", fastMode: true } },
    "clears one field of a message when the patch does not have the message",
  ],
  [
    ["settings.fast_mode"],
    { settings: { fastMode: false } },
    { settings: { model: "opus", reasoningEffort: "low", fastMode: false } },
    "keeps an explicit false apart from nothing",
  ],
  [
    ["settings.fast_mode"],
    { settings: {} },
    { settings: { model: "opus", reasoningEffort: "low" } },
    "clears an optional field",
  ],
  [
    ["settings", "settings.model"],
    { settings: { model: "o3" } },
    { settings: { model: "o3" } },
    "lets a path win over the paths below it, whichever comes first",
  ],
  [
    ["settings.model", "settings"],
    { settings: { model: "o3" } },
    { settings: { model: "o3" } },
    "lets a path win over the paths below it, whichever comes last",
  ],
  [[], { agent: "new" }, {}, "with no paths changes nothing"],
] as const;

for (const [paths, patch, changes, sentence] of patched) {
  test(`a patch ${sentence}`, () => {
    const before = create(WorkspaceSchema, target);
    const sent = create(WorkspaceSchema, patch as object);
    const result = applyMask(WorkspaceSchema, before, sent, resolveMask(WorkspaceSchema, paths));
    const expected = create(WorkspaceSchema, { ...target, ...(changes as object) });
    assert.deepEqual(toJson(WorkspaceSchema, result), toJson(WorkspaceSchema, expected));
  });
}

test("a nested path makes the message above it when the patch has something there", () => {
  const sent = create(WorkspaceSchema, { settings: { fastMode: false, model: "o3" } });
  const paths = resolveMask(WorkspaceSchema, ["settings.fast_mode"]);
  const result = applyMask(WorkspaceSchema, create(WorkspaceSchema), sent, paths);
  assert.deepEqual(toJson(WorkspaceSchema, result), { settings: { fastMode: false } });
});

test("a nested path that clears makes nothing", () => {
  const paths = resolveMask(WorkspaceSchema, ["settings.model"]);
  for (const sent of [{}, { settings: {} }, { settings: { serviceTier: "fast" } }]) {
    const result = applyMask(WorkspaceSchema, create(WorkspaceSchema), create(WorkspaceSchema, sent), paths);
    assert.equal(result.settings, undefined);
  }
});

const ofOneof = [
  ["value", { value: "new" }, { secret: "s" }, { value: "new" }, "setting one member unsets the other"],
  ["value", { value: "" }, { secret: "s" }, { value: "" }, "an empty member is set all the same"],
  [
    "value",
    { secret: "t" },
    { secret: "s" },
    { secret: "s" },
    "clearing a member that is not set changes nothing",
  ],
  ["value", { secret: "t" }, { value: "v" }, {}, "clearing the member that is set leaves none"],
] as const;

for (const [path, patch, before, after, sentence] of ofOneof) {
  test(`oneof: ${sentence}`, () => {
    const paths = resolveMask(VariableSchema, [path]);
    const result = applyMask(VariableSchema, variable(before), variable(patch), paths);
    assert.deepEqual(toJson(VariableSchema, result), after);
  });
}

function variable(source: { value?: string; secret?: string }) {
  const [name, value] = Object.entries(source)[0] ?? [];
  return create(
    VariableSchema,
    name === undefined ? {} : { source: { case: name as "value", value: value ?? "" } },
  );
}

test("oneof: a path through a member makes the member", () => {
  const paths = resolveMask(TaskActivationSchema, ["files_modified.pattern"]);
  const sent = create(TaskActivationSchema, {
    condition: { case: "filesModified", value: { pattern: "*.ts" } },
  });
  const made = applyMask(TaskActivationSchema, create(TaskActivationSchema), sent, paths);
  assert.deepEqual(toJson(TaskActivationSchema, made), { filesModified: { pattern: "*.ts" } });
  const cleared = applyMask(TaskActivationSchema, sent, create(TaskActivationSchema), paths);
  assert.deepEqual(toJson(TaskActivationSchema, cleared), { filesModified: {} });
});

test("the result shares nothing with the patch", () => {
  const sent = create(WorkspaceSchema, { repos: [{ name: "a" }], settings: { model: "o3" } });
  const paths = resolveMask(WorkspaceSchema, ["repos", "settings"]);
  const result = applyMask(WorkspaceSchema, create(WorkspaceSchema), sent, paths);
  sent.repos.push(create(WorkspaceSchema, { repos: [{ name: "b" }] }).repos[0] as (typeof sent.repos)[0]);
  if (sent.settings) sent.settings.model = "changed";
  assert.deepEqual(toJson(WorkspaceSchema, result), { repos: [{ name: "a" }], settings: { model: "o3" } });
});

// Types without a oneof on a path: a oneof is the one case where a field outside the mask changes.
for (const schema of [
  WorkspaceSchema,
  PersonaSchema,
  PersonaTaskSchema,
  PoolConfigSchema,
  TokenSchema,
  ModelSchema,
]) {
  const desc = schema as DescMessage;
  test(`whatever the mask, ${desc.name}: inside it as in the patch, outside it as before`, () => {
    const all = pathsOf(desc, []);
    const masks = fc.subarray(all.map((path) => path.map((field) => field.name).join(".")));
    fc.assert(
      fc.property(arbitraryMessage(desc), arbitraryMessage(desc), masks, (before, patch, mask) => {
        const [beforeJson, patchJson] = [toJson(desc, before), toJson(desc, patch)];
        const result = applyMask(desc, before, patch, resolveMask(desc, mask));
        for (const path of all.filter(isLeaf)) {
          const inside = mask.some((text) => covers(text, path));
          assert.deepEqual(leaf(desc, result, path), leaf(desc, inside ? patch : before, path));
        }
        for (const text of mask.filter((path) => !path.includes("."))) {
          const field = desc.fields.find((f) => f.name === text) as DescField;
          assert.equal(reflect(desc, result).isSet(field), reflect(desc, patch).isSet(field));
        }
        assert.deepEqual(toJson(desc, before), beforeJson);
        assert.deepEqual(toJson(desc, patch), patchJson);
        assert.ok(equals(desc, applyMask(desc, result, patch, resolveMask(desc, mask)), result));
      }),
      { numRuns: 200 },
    );
  });
}

function pathsOf(desc: DescMessage, above: readonly DescField[]): DescField[][] {
  return desc.fields.flatMap((field) => {
    const path = [...above, field];
    return isLeaf(path) ? [path] : [path, ...pathsOf(field.message as DescMessage, path)];
  });
}

function isLeaf(path: readonly DescField[]): boolean {
  const field = path.at(-1) as DescField;
  return field.fieldKind !== "message" || field.message.typeName.startsWith("google.protobuf.");
}

function covers(text: string, path: readonly DescField[]): boolean {
  const full = path.map((field) => field.name).join(".");
  return full === text || full.startsWith(`${text}.`);
}

/** The value at the end of a path as JSON; undefined where it, or a message on the way, is not set. */
function leaf(desc: DescMessage, message: Message, path: readonly DescField[]): unknown {
  let at: ReflectMessage = reflect(desc, message);
  for (const [index, field] of path.entries()) {
    if (!at.isSet(field)) return undefined;
    if (index === path.length - 1)
      return (toJson(at.desc, at.message) as Record<string, unknown>)[field.jsonName];
    at = at.get(field) as ReflectMessage;
  }
  return undefined;
}
