import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toJson } from "@bufbuild/protobuf";
import { jsonWriter } from "../../../src/transport/gateway/json-writer.js";
import { ALL_MESSAGES, randomOf, sampleMessage } from "./sample.js";

describe("the JSON writer", () => {
  it("knows all messages of the interface", () => {
    assert.ok(ALL_MESSAGES.length > 60, `only ${ALL_MESSAGES.length}`);
  });

  for (const desc of ALL_MESSAGES) {
    it(`writes ${desc.typeName} as protobuf-es does, in the same order`, () => {
      const random = randomOf(1);
      for (let i = 0; i < 50; i++) {
        const message = sampleMessage(desc, random);
        const expected = JSON.stringify(toJson(desc, message, { alwaysEmitImplicit: true }));
        assert.equal(jsonWriter(desc)(message), expected);
      }
    });
  }
});
