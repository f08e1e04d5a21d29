import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { checkDocument, parseDocument } from "../../../../src/domain/catalog/document.js";
import type { Document, Kind } from "../../../../src/domain/catalog/kind.js";
import { faultOf } from "../../fault-of.js";

/** A document that is fine, and why it might not have been thought so. */
export type GoodRow = readonly [sentence: string, document: JsonObject];

/** A document that is not, the field that is to blame, and a part of what is said about it. */
export type BadRow = readonly [sentence: string, document: JsonObject, field: string, says: string];

/** Each row goes the way of a payload: read, then checked. A bad row is told about its field and nothing else. */
export function testRows<D extends Document>(
  kind: Kind<D>,
  good: readonly GoodRow[],
  bad: readonly BadRow[],
): void {
  const check = (document: JsonObject) =>
    checkDocument(kind, parseDocument(kind, new TextEncoder().encode(JSON.stringify(document))));

  for (const [sentence, document] of good) test(`${kind.name}: ${sentence}`, () => check(document));

  for (const [sentence, document, field, says] of bad) {
    test(`${kind.name}: ${sentence}`, () => {
      const fault = faultOf(() => check(document));
      const violations = fault.details.violations ?? [];
      assert.deepEqual(
        violations.map((violation) => violation.field),
        [field === "" ? "payload" : `payload.${field}`],
        fault.message,
      );
      assert.ok(violations[0]?.description.includes(says), fault.message);
    });
  }
}

/** Rows that every kind with a name for people and a description has. */
export function describedRows(base: JsonObject): { good: GoodRow[]; bad: BadRow[] } {
  return {
    good: [
      ["takes 200 characters of display name", { ...base, displayName: "ü".repeat(200) }],
      ["takes 4096 characters of description, in lines", { ...base, description: "x\n".repeat(2048) }],
    ],
    bad: [
      [
        "refuses 201 characters of display name",
        { ...base, displayName: "x".repeat(201) },
        "displayName",
        "at most 200 characters, these are 201",
      ],
      ["refuses a display name of two lines", { ...base, displayName: "a\nb" }, "displayName", "one line"],
      [
        "refuses escape codes in a display name",
        { ...base, displayName: "\u001b[31m" },
        "displayName",
        "control",
      ],
      [
        "refuses 4097 characters of description",
        { ...base, description: "x".repeat(4097) },
        "description",
        "at most 4096 characters, these are 4097",
      ],
    ],
  };
}
