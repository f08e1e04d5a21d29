import assert from "node:assert/strict";
import { test } from "node:test";
import type { DescMessage } from "@bufbuild/protobuf";
import { InputFormat } from "../../../../gen/retinue/v1/catalog_pb.js";
import { Backend } from "../../../../gen/retinue/v1/settings_pb.js";
import { KINDS, kindOf } from "../../../../src/domain/catalog/kinds/index.js";
import { model } from "../../../../src/domain/catalog/kinds/model.js";
import { poolConfig } from "../../../../src/domain/catalog/kinds/pool-config.js";
import { workspace } from "../../../../src/domain/catalog/kinds/workspace.js";
import { isName } from "../../../../src/domain/name.js";
import { faultOf, invalidAt } from "../../fault-of.js";

const { YAML, MARKDOWN } = InputFormat;

// name, message, input, scope to read, scope to write, proposable, builtins
const kinds = [
  ["workspace", "Workspace", YAML, "catalog:read", "catalog:write", true, "default"],
  ["persona", "Persona", MARKDOWN, "catalog:read", "catalog:write", true, "default"],
  ["environment", "Environment", YAML, "catalog:read", "catalog:write", true, "default"],
  ["vm-profile", "VmProfile", YAML, "catalog:read", "catalog:write", true, ""],
  ["pool-config", "PoolConfig", YAML, "catalog:read", "catalog:write", true, "default"],
  ["model", "Model", YAML, "catalog:read", "catalog:write", true, "script-a,script-b"],
  ["service-profile", "ServiceProfile", YAML, "catalog:read", "keys:manage", false, ""],
  ["schedule", "Schedule", YAML, "catalog:read", "catalog:write", true, ""],
  ["secret", "Secret", YAML, "keys:manage", "keys:manage", false, ""],
  ["token", "Token", YAML, "keys:manage", "keys:manage", false, ""],
  ["share-link", "ShareLink", YAML, "agents:message", "agents:message", false, ""],
  ["integration", "Integration", YAML, "catalog:read", "catalog:write", false, ""],
  ["change-request", "ChangeRequest", YAML, "catalog:read", "catalog:write", false, ""],
] as const;

for (const [name, message, inputFormat, readScope, writeScope, proposable, builtins] of kinds) {
  test(`kind ${name} says of itself what it is`, () => {
    const kind = kindOf(name);
    assert.equal(kind.name, name);
    assert.equal((kind.schema as unknown as DescMessage).name, message);
    assert.deepEqual(
      [kind.inputFormat, kind.readScope, kind.writeScope, kind.proposable, [...kind.builtins.keys()].join()],
      [inputFormat, readScope, writeScope, proposable, builtins],
    );
  });
}

test("no kind is missing from the table above", () => {
  assert.deepEqual(
    [...KINDS.keys()],
    kinds.map(([name]) => name),
  );
});

for (const kind of KINDS.values()) {
  const desc = kind.schema as unknown as DescMessage;

  test(`kind ${kind.name} has a meta, and its server-set fields exist`, () => {
    assert.equal(desc.field.meta?.message?.typeName, "retinue.v1.Meta");
    for (const name of kind.serverSet) assert.ok(desc.field[name], name);
    assert.ok(isName(kind.name));
  });

  test(`the builtins of ${kind.name} keep its rules and have no meta`, () => {
    for (const [name, document] of kind.builtins) {
      assert.deepEqual(kind.validate(document), [], name);
      assert.equal(document.meta, undefined);
      assert.ok(isName(name));
    }
  });
}

const unknown = ["", "workspaces", "Workspace", "constructor", "x".repeat(10_000)];

for (const name of unknown) {
  test(`kind '${name.slice(0, 20)}' does not exist, and the known ones are named`, () => {
    const text = invalidAt("ref.kind", () => kindOf(name));
    assert.ok(text.endsWith(`known kinds: ${kinds.map(([known]) => known).join(", ")}`), text);
    assert.equal(faultOf(() => kindOf(name)).reason, "UNKNOWN_KIND");
    assert.ok(text.length < 400);
  });
}

test("only change requests are not written directly, and say how they come to be", () => {
  const notWritable = [...KINDS.values()].filter((kind) => kind.notWritable !== undefined);
  assert.deepEqual(
    notWritable.map((kind) => kind.name),
    ["change-request"],
  );
  assert.match(notWritable[0]?.notWritable ?? "", /catalog:propose.*ApproveChangeRequest/);
});

test("kinds with secrets or an owner settle", () => {
  const settling = [...KINDS.values()].filter((kind) => kind.settle !== undefined);
  assert.deepEqual(
    settling.map((kind) => kind.name),
    ["schedule", "secret", "token", "share-link", "integration"],
  );
});

test("the builtin workspace is no tenant's choice", () => {
  assert.equal(workspace.builtins.get("default")?.default, false);
});

test("the builtin pool has eight slots", () => assert.equal(poolConfig.builtins.get("default")?.slots, 8));

test("the builtin models say that they are scripts", () => {
  assert.equal(model.builtins.get("script-a")?.backend, Backend.A);
  assert.equal(model.builtins.get("script-b")?.backend, Backend.B);
  for (const script of model.builtins.values()) {
    assert.match(script.displayName, /script/);
    assert.match(script.description, /^Not a model/);
  }
});
