import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Provider } from "../../gen/retinue/v1/agent_id_pb.js";
import type { Caller } from "../../src/domain/caller.js";
import { Fault } from "../../src/domain/fault.js";
import type { KeyRecord } from "../../src/domain/key.js";
import { createOpenCalls } from "../../src/transport/guards/open-calls.js";
import { createRateLimit } from "../../src/transport/guards/rate-limit.js";

const reasonOf = (error: unknown) => (error instanceof Fault ? error.reason : error);

describe("rate limit", () => {
  test("a burst of two seconds' worth passes, the next is told when to come back, time fills it up again", () => {
    let nowMs = 0;
    const admit = createRateLimit(10, () => nowMs);
    for (let i = 0; i < 20; i++) admit("k");
    assert.throws(
      () => admit("k"),
      (error: Fault) => error.reason === "RATE_LIMITED" && error.details.retryAfterMs === 100,
    );
    admit("other");
    nowMs += 100;
    admit("k");
    assert.throws(() => admit("k"));
  });

  test("a clock that steps back refuses nobody who was welcome", () => {
    let nowMs = 10_000;
    const admit = createRateLimit(1, () => nowMs);
    admit("k");
    nowMs = 0;
    admit("k");
    assert.throws(() => admit("k"));
  });

  test("0 switches it off", () => {
    const admit = createRateLimit(0, () => 0);
    for (let i = 0; i < 1000; i++) admit("k");
  });
});

describe("open calls", () => {
  const caller = (keyId: string, expiresAtMs?: number): Caller => ({
    tenant: "codehost_app/local",
    ownerProvider: Provider.CODEHOST_OAUTH,
    account: "a",
    keyId,
    keyName: "",
    role: "",
    scopes: new Set(),
    expiresAtMs,
  });
  const never = new AbortController().signal;

  test("a revoked key ends its own calls and no others", () => {
    const calls = createOpenCalls(10);
    const mine = calls.hold(caller("k"), never);
    const other = calls.hold(caller("o"), never);
    calls.keyChanged({ keyId: "k", revoked: false } as KeyRecord);
    assert.ok(!mine.signal.aborted);
    calls.keyChanged({ keyId: "k", revoked: true } as KeyRecord);
    assert.equal(reasonOf(mine.signal.reason), "INVALID_KEY");
    assert.ok(!other.signal.aborted);
  });

  test("a key that expires ends its calls", () => {
    const calls = createOpenCalls(10);
    const held = calls.hold(caller("k", 1000), never);
    calls.sweep(999);
    assert.ok(!held.signal.aborted);
    calls.sweep(1000);
    assert.equal(reasonOf(held.signal.reason), "INVALID_KEY");
  });

  const changed = (fields: Partial<KeyRecord>) =>
    ({ keyId: "k", revoked: false, scopes: [], ...fields }) as KeyRecord;

  test("a key that is cut down ends its calls; one that gets more, or another name, does not", () => {
    const calls = createOpenCalls(10);
    const held = calls.hold({ ...caller("k"), scopes: new Set(["agents:read"]) }, never);
    calls.keyChanged(changed({ scopes: ["agents:read", "agents:kill"], displayName: "x" }));
    assert.ok(!held.signal.aborted);
    calls.keyChanged(changed({ scopes: ["catalog:read"] }));
    assert.equal(reasonOf(held.signal.reason), "PERMISSION_DENIED");
  });

  test("a key whose end is moved forward ends its calls then", () => {
    const calls = createOpenCalls(10);
    const held = calls.hold(caller("k", 5000), never);
    calls.keyChanged(changed({ expiresAtMs: 1000 }));
    calls.sweep(1000);
    assert.equal(reasonOf(held.signal.reason), "INVALID_KEY");
  });

  test("a server that stops tells every call", () => {
    const calls = createOpenCalls(10);
    const held = calls.hold(caller("k"), never);
    calls.stop();
    assert.equal(reasonOf(held.signal.reason), "SERVER_STOPPING");
  });

  test("a client that leaves ends its call, with its reason", () => {
    const calls = createOpenCalls(10);
    const client = new AbortController();
    const held = calls.hold(caller("k"), client.signal);
    client.abort("gone");
    assert.equal(held.signal.reason, "gone");
    assert.equal(calls.hold(caller("k"), client.signal).signal.aborted, true);
  });

  test("a key holds so many calls and no more; releasing one makes room", () => {
    const calls = createOpenCalls(2);
    const first = calls.hold(caller("k"), never);
    calls.hold(caller("k"), never);
    assert.throws(
      () => calls.hold(caller("k"), never),
      (error) => reasonOf(error) === "TOO_MANY_STREAMS",
    );
    calls.hold(caller("other"), never);
    first.release();
    first.release();
    assert.equal(calls.size, 2);
    calls.hold(caller("k"), never);
  });
});
