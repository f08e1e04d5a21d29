import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { TimestampSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { PutResourceRequestSchema } from "../../gen/retinue/v1/catalog_service_pb.js";
import { WhoamiResponseSchema } from "../../gen/retinue/v1/identity_service_pb.js";
import { encodeBehind } from "../../src/transport/grpc/binary-writer.js";
import { ALL_MESSAGES, randomOf, sampleMessage } from "./gateway/sample.js";

describe("the binary writer", () => {
  for (const desc of ALL_MESSAGES) {
    it(`writes ${desc.typeName} as protobuf-es does`, () => {
      const random = randomOf(2);
      for (let i = 0; i < 50; i++) {
        const message = sampleMessage(desc, random);
        assert.deepEqual(encodeBehind(0, desc, message), Buffer.from(toBinary(desc, message)));
      }
    });
  }

  const LENGTHS = [0, 1, 31, 32, 127, 128, 16_383, 16_384, 70_000, 2_100_000];
  for (const length of LENGTHS) {
    for (const letter of ["a", "é", "\ud83d\ude00"]) {
      it(`writes a nested text of ${length} × ${letter}`, () => {
        const init = { ref: { kind: "k", name: letter.repeat(length) }, payload: new Uint8Array(length) };
        const message = create(PutResourceRequestSchema, init);
        assert.deepEqual(
          encodeBehind(0, PutResourceRequestSchema, init),
          Buffer.from(toBinary(PutResourceRequestSchema, message)),
        );
      });
    }
  }

  for (const seconds of [
    0n,
    -1n,
    1n,
    127n,
    128n,
    2n ** 31n,
    2n ** 32n,
    2n ** 53n,
    2n ** 63n - 1n,
    -(2n ** 63n),
  ]) {
    for (const nanos of [0, -1, 128, 2 ** 31 - 1, -(2 ** 31)]) {
      it(`writes the numbers ${seconds} and ${nanos}`, () => {
        const message = create(TimestampSchema, { seconds, nanos });
        assert.deepEqual(
          encodeBehind(0, TimestampSchema, message),
          Buffer.from(toBinary(TimestampSchema, message)),
        );
      });
    }
  }

  it("takes what create makes a message of", () => {
    const init = { tenant: { org: "acme" }, scopes: ["agents:read"], expiresAt: undefined };
    assert.deepEqual(
      encodeBehind(0, WhoamiResponseSchema, init),
      Buffer.from(toBinary(WhoamiResponseSchema, create(WhoamiResponseSchema, init))),
    );
  });

  it("leaves what it does not write itself to protobuf-es", () => {
    const value = { kind: { case: "structValue" as const, value: { fields: {} } } };
    const message = create(ValueSchema, value as never);
    assert.deepEqual(encodeBehind(0, ValueSchema, message), Buffer.from(toBinary(ValueSchema, message)));
  });

  it("passes on fields that it does not know", () => {
    const message = create(WhoamiResponseSchema, { account: "a" });
    message.$unknown = [{ no: 500, wireType: 0, data: new Uint8Array([1]) }];
    const expected = Buffer.from(toBinary(WhoamiResponseSchema, message));
    assert.deepEqual(encodeBehind(0, WhoamiResponseSchema, message), expected);
  });

  it("leaves room in front", () => {
    const frame = encodeBehind(5, WhoamiResponseSchema, { account: "a" });
    assert.deepEqual(frame.subarray(5), encodeBehind(0, WhoamiResponseSchema, { account: "a" }));
    assert.equal(frame.length, 5 + 3);
  });
});
