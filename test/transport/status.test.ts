import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Code as ConnectCode } from "@connectrpc/connect";
import { Code } from "../../gen/google/rpc/code_pb.js";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { Fault } from "../../src/domain/fault.js";
import { httpStatus, toConnectError, toEnvelope, toStatus } from "../../src/transport/status.js";

/** Section 7 of the interface and row 3 of its readings: name, number, HTTP status. */
const ROWS: [keyof typeof Code, number, number][] = [
  ["CANCELLED", 1, 499],
  ["UNKNOWN", 2, 500],
  ["INVALID_ARGUMENT", 3, 400],
  ["DEADLINE_EXCEEDED", 4, 504],
  ["NOT_FOUND", 5, 404],
  ["ALREADY_EXISTS", 6, 409],
  ["PERMISSION_DENIED", 7, 403],
  ["RESOURCE_EXHAUSTED", 8, 429],
  ["FAILED_PRECONDITION", 9, 400],
  ["ABORTED", 10, 409],
  ["OUT_OF_RANGE", 11, 400],
  ["UNIMPLEMENTED", 12, 501],
  ["INTERNAL", 13, 500],
  ["UNAVAILABLE", 14, 503],
  ["DATA_LOSS", 15, 500],
  ["UNAUTHENTICATED", 16, 401],
];

describe("the map of codes", () => {
  for (const [name, code, http] of ROWS) {
    test(`${name} is ${code} and HTTP ${http}`, () => {
      const fault = new Fault(Code[name], "WHY", "what happened");
      assert.equal(toStatus(fault).code, code);
      assert.equal(httpStatus(fault.code), http);
      const error = toConnectError(fault);
      assert.equal(error.code, code);
      assert.equal(error.rawMessage, "what happened");
      assert.equal(error.findDetails(ErrorInfoSchema)[0]?.reason, "WHY");
    });
  }

  test("every code there is has a row", () => {
    const numbers = (codes: object) =>
      Object.values(codes)
        .filter(Number.isInteger)
        .sort((a, b) => a - b);
    const rows = ROWS.map(([, code]) => code);
    assert.deepEqual(numbers(Code), [Code.OK, ...rows]);
    assert.deepEqual(numbers(ConnectCode), rows);
  });
});

test("the envelope is code, message and details, each detail with its type and fields", () => {
  const fault = new Fault(Code.RESOURCE_EXHAUSTED, "RATE_LIMITED", "slow down", {
    metadata: { limit: "5" },
    violations: [{ field: "a.b", description: "too long" }],
    preconditions: [{ type: "T", subject: "s", description: "d" }],
    retryAfterMs: 1500,
  });
  assert.deepEqual(toEnvelope(fault), {
    code: 8,
    message: "slow down",
    details: [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: "RATE_LIMITED",
        domain: "retinue",
        metadata: { limit: "5" },
      },
      {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        fieldViolations: [{ field: "a.b", description: "too long", reason: "" }],
      },
      {
        "@type": "type.googleapis.com/google.rpc.PreconditionFailure",
        violations: [{ type: "T", subject: "s", description: "d" }],
      },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1.500s" },
    ],
  });
});
