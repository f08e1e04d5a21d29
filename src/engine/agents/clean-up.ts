import { durationMs } from "@bufbuild/protobuf/wkt";
import type { Logger } from "pino";
import { isTerminal } from "../../domain/agent/phase.js";
import type { Workspaces } from "../../runner/workspaces.js";
import type { Store } from "../../storage/store.js";
import type { Clock } from "../clock.js";
import type { Documents } from "./documents.js";
import { listedAgentOf } from "./rows.js";

/** Deletes the files of agents that have ended, as long after it as their workspace says. */
export interface CleanUp {
  start(): void;
  stop(): void;
}

export interface CleanUpOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly workspaces: Workspaces;
  readonly documents: Documents;
  readonly log: Logger;
}

const EVERY_MS = 60_000;
const KEEP_MS = 7 * 24 * 60 * 60 * 1000;

export function createCleanUp({ store, clock, workspaces, documents, log }: CleanUpOptions): CleanUp {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function isOver(uid: string): Promise<boolean> {
    const record = await store.agent(uid);
    // Files of nobody are somebody's to look at, not ours to delete.
    if (record === undefined || record.row.unsettled) return false;
    const { key, phase, endedAtMs } = listedAgentOf(record.row);
    if (!isTerminal(phase) || endedAtMs === undefined) return false;
    const pushes = await store.pushes(uid);
    // Until the upstream has it, what was pushed is nowhere else.
    if (pushes.some(({ commit, forwardedCommit }) => commit !== forwardedCommit)) return false;
    const keep = (await documents.workspace(key.tenant, key.workspace))?.keepFiles;
    return endedAtMs + (keep ? durationMs(keep) : KEEP_MS) <= clock.nowMs();
  }

  async function look(): Promise<void> {
    for (const uid of await workspaces.list()) {
      if (stopped) return;
      if (await isOver(uid)) await workspaces.remove(uid);
    }
  }

  function again(): void {
    if (!stopped) timer = setTimeout(run, EVERY_MS);
  }

  function run(): void {
    look()
      .catch((err: unknown) => log.error({ err }, "could not delete the files of ended agents"))
      .finally(again);
  }

  return {
    start: run,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
