import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, rest } from "./server.js";

// biome-ignore lint/suspicious/noExplicitAny: tests look into JSON of every shape
type Json = any;

/** The agents of one server as one key sees them, over `/v1`. A path is written `parent/child`. */
export interface AgentCaller {
  /** Whatever the answer is. */
  ask(operation: string, path: string, more?: object): Promise<Answer>;
  /** The body of an answer that must be 200. */
  get(operation: string, path: string, more?: object): Promise<Json>;
  spawn(path: string, description: string, more?: object): Promise<Json>;
  queue(path: string, description: string, more?: object): Promise<Json>;
  status(path: string): Promise<Json>;
  /** Until it finishes or wants its caller, or what `more` says; fails when nothing comes of it. */
  wait(path: string, more?: object): Promise<Json>;
  /** The whole log, checked to be without a gap from 1. */
  timeline(path: string, uid?: string): Promise<Json[]>;
  /** Polls the status until it fits. */
  until(path: string, what: string, fits: (status: Json) => boolean): Promise<Json>;
}

/** Machines that run tests are slow and shared. */
export const PATIENCE_MS = 30_000;
const PAUSE_MS = 25;

export function createAgentCaller(server: { readonly url: string }, key: string): AgentCaller {
  const idOf = (path: string, uid = "") => ({ agent: path.split("/"), ...(uid === "" ? {} : { uid }) });
  const ask = (operation: string, path: string, more: object = {}) =>
    rest(server, key, "POST", `/v1/agent/${operation}`, { agentId: idOf(path), ...more });

  async function get(operation: string, path: string, more: object = {}): Promise<Json> {
    const answer = await ask(operation, path, more);
    assert.equal(answer.status, 200, `${operation} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async function timeline(path: string, uid = ""): Promise<Json[]> {
    const events: Json[] = [];
    for (;;) {
      const page = await get("timeline", path, {
        agentId: idOf(path, uid),
        afterSeq: events.length,
        pageSize: 200,
      });
      events.push(...page.events);
      if (!page.hasMore) break;
    }
    assert.deepEqual(
      events.map(({ seq }) => Number(seq)),
      events.map((_, i) => i + 1),
      `${path}: seq has a gap`,
    );
    return events;
  }

  return {
    ask,
    get,
    timeline,
    spawn: (path, description, more = {}) => get("spawn", path, { description, ...more }),
    queue: (path, description, more = {}) => get("queue", path, { description, ...more }),
    status: (path) => get("status", path),
    async wait(path, more = {}) {
      const answer = await get("wait", path, { timeout: `${PATIENCE_MS / 1000}s`, ...more });
      if (!("timeout" in more)) {
        assert.notEqual(answer.reason, "WAIT_REASON_TIMEOUT", `${path}: ${JSON.stringify(answer.status)}`);
      }
      return answer;
    },
    async until(path, what, fits) {
      // One that is not there yet has no phase.
      const look = async () => (await ask("status", path)).body;
      return until(`${path}: ${what}`, look, (seen) => seen.phase !== undefined && fits(seen));
    },
  };
}

/** Looks until it fits; fails with the last look when it never does. */
export async function until<T>(what: string, look: () => Promise<T>, fits: (seen: T) => boolean): Promise<T> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const seen = await look();
    if (fits(seen)) return seen;
    if (performance.now() > giveUpAt) throw new Error(`never came: ${what}; last: ${JSON.stringify(seen)}`);
    await sleep(PAUSE_MS);
  }
}

/** What one message went through, by the log: the event types in order, without their prefix. */
export function fateOf(events: readonly Json[], followUpId: string): string[] {
  return events
    .filter(({ payload }) => payload.followUp?.followUp?.followUpId === followUpId)
    .map(({ type }) => String(type).replace("EVENT_TYPE_FOLLOW_UP_", ""));
}

export const typesOf = (events: readonly Json[]): string[] =>
  events.map(({ type }) => String(type).replace("EVENT_TYPE_", ""));

/** What an agent said, as stored. */
export const saidIn = (events: readonly Json[]): string =>
  events.map(({ payload }) => payload.message?.text ?? "").join("");

export function assertFault(answer: Answer, status: number, reason: string, text?: RegExp): void {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.equal(answer.body.details[0].reason, reason, answer.body.message);
  if (text) assert.match(answer.body.message, text);
}
