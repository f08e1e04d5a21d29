import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { SecretSchema } from "../../../../gen/retinue/v1/catalog_pb.js";
import type { KindWrite } from "../../../../src/domain/catalog/kind.js";
import { secret, secretPlace } from "../../../../src/domain/catalog/kinds/secret.js";
import { createVault } from "../../../../src/engine/vault.js";
import { faultOf, invalidAt } from "../../fault-of.js";
import { callerWith, kindWrite, VAULT } from "./kind-write.js";
import { type BadRow, describedRows, type GoodRow, testRows } from "./violation-rows.js";

const described = describedRows({ value: "hunter2" });
const good: GoodRow[] = [...described.good, ["takes lines", { value: "-----BEGIN\nKEY-----\n" }]];
const bad: BadRow[] = [
  ...described.bad,
  ["refuses a value that no variable can hold", { value: "a\0b" }, "value", "U+0000"],
  ["refuses more than 64 KiB", { value: "x".repeat(64 * 1024 + 1) }, "value", "at most 64 KiB"],
];
testRows(secret, good, bad);

type Write = KindWrite<ReturnType<typeof document>>;
const document = (init: MessageInitShape<typeof SecretSchema>) => create(SecretSchema, init);
const admin = callerWith(["keys:manage"]);

function settle(init: MessageInitShape<typeof SecretSchema>, more: Partial<Write> = {}) {
  const settled = secret.settle?.(kindWrite(document(init), admin, more));
  assert.ok(settled);
  return settled;
}

const PLACE = secretPlace("codehost_app/other", "it");

test("secret: the value leaves the document and opens in its own place only", () => {
  const { document, sealed, reveal } = settle({ value: "hunter2", displayName: "x" });
  assert.deepEqual([document.value, document.valueVersion, reveal], ["", 1n, undefined]);
  assert.ok(sealed && !Buffer.from(sealed).includes("hunter2"));
  assert.equal(VAULT.open(PLACE, sealed), "hunter2");
  assert.equal(
    faultOf(() => VAULT.open(secretPlace("codehost_app/b", "it"), sealed)).reason,
    "MASTER_KEY_WRONG",
  );
  const other = createVault(new Uint8Array(32));
  assert.equal(faultOf(() => other.open(PLACE, sealed)).reason, "MASTER_KEY_WRONG");
  assert.equal(faultOf(() => VAULT.open(PLACE, new Uint8Array(3))).reason, "MASTER_KEY_WRONG");
});

test("secret: a new one needs a value", () => {
  assert.match(
    invalidAt("payload.value", () => settle({})),
    /required/,
  );
});

const made = settle({ value: "hunter2" });
const before = { before: made.document, beforeSealed: made.sealed };

test("secret: a write without a value keeps it", () => {
  const kept = settle({ displayName: "y", valueVersion: 1n }, before);
  assert.deepEqual([kept.sealed, kept.document.valueVersion], [undefined, 1n]);
});

test("secret: the same value again changes nothing", () => {
  const same = settle({ value: "hunter2", valueVersion: 1n }, before);
  assert.deepEqual([same.sealed, same.document], [undefined, made.document]);
});

test("secret: another value counts on, so that the write is a version", () => {
  const next = settle({ value: "hunter3", valueVersion: 1n }, before);
  assert.equal(next.document.valueVersion, 2n);
  assert.equal(VAULT.open(PLACE, next.sealed as Uint8Array), "hunter3");
});

test("secret: what another master key sealed can be written over", () => {
  const foreign = createVault(new Uint8Array(32)).seal(PLACE, "hunter2");
  const next = settle({ value: "hunter2", valueVersion: 1n }, { ...before, beforeSealed: foreign });
  assert.equal(next.document.valueVersion, 2n);
});
