import type { Logger } from "pino";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import { Fault } from "../../domain/fault.js";
import type { AgentKeys } from "../../engine/agents/agent-keys.js";
import type { Auditor } from "../../engine/audit.js";
import type { Clock } from "../../engine/clock.js";
import { bearerOf, type Keys } from "../../engine/keys.js";
import type { Store } from "../../storage/store.js";
import type { CallGuards } from "../call.js";
import type { Metrics } from "./metrics.js";
import type { OpenCalls } from "./open-calls.js";
import { createRateLimit } from "./rate-limit.js";

/** Refusals of one key that are worth a record; the rest of the minute is only counted. */
const REFUSALS_PER_MINUTE = 10;

export interface GuardOptions {
  readonly keys: Keys;
  readonly agentKeys: AgentKeys;
  readonly store: Store;
  readonly auditor: Auditor;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly openCalls: OpenCalls;
  readonly requestsPerSecond: number;
  readonly log: Logger;
}

/** Puts together what `call` asks of every request. */
export function createGuards(options: GuardOptions): CallGuards {
  const { keys, store, auditor, clock, metrics, openCalls, log } = options;
  const limit = createRateLimit(options.requestsPerSecond, () => clock.nowMs());
  const refusals = { minute: 0, byKey: new Map<string, number>() };

  function worthRecording(keyId: string): boolean {
    const minute = Math.floor(clock.nowMs() / 60_000);
    if (minute !== refusals.minute) Object.assign(refusals, { minute, byKey: new Map() });
    const count = (refusals.byKey.get(keyId) ?? 0) + 1;
    refusals.byKey.set(keyId, count);
    return count <= REFUSALS_PER_MINUTE;
  }

  function countBadKey(error: unknown): never {
    if (error instanceof Fault && error.code === Code.UNAUTHENTICATED) metrics.badKey();
    throw error;
  }

  return {
    authenticate(authorization) {
      try {
        const key = bearerOf(authorization);
        const caller = options.agentKeys.find(key) ?? keys.authenticate(key);
        return caller instanceof Promise ? caller.catch(countBadKey) : caller;
      } catch (error) {
        return countBadKey(error);
      }
    },
    admit: (caller) => limit(caller.keyId),
    holdOpen: (caller, signal) => openCalls.hold(caller, signal),
    refused(caller, rpc) {
      if (!worthRecording(caller.keyId)) return;
      const act = { caller, action: rpc.action, justification: "" };
      store
        .commit([auditor.refused(act, caller.tenant, rpc.action)])
        .catch((err: unknown) => log.warn({ err }, "could not record a refusal"));
    },
    finished: (rpc, code, tookMs) => metrics.called(rpc, code, tookMs),
    log,
  };
}
