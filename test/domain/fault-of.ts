import assert from "node:assert/strict";
import { Code } from "../../gen/google/rpc/code_pb.js";
import { Fault } from "../../src/domain/fault.js";

/** The fault that a call throws; anything else fails the test. */
export function faultOf(call: () => unknown): Fault {
  try {
    call();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  assert.fail("nothing was thrown");
}

/** Asserts INVALID_ARGUMENT on one field, and returns the sentence about it. */
export function invalidAt(field: string, call: () => unknown): string {
  const fault = faultOf(call);
  assert.equal(fault.code, Code.INVALID_ARGUMENT);
  assert.equal(fault.details.violations?.[0]?.field, field, fault.message);
  return fault.message;
}
