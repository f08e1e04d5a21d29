import { batch, computed, signal } from "@preact/signals";
import { Phase } from "../../../gen/retinue/v1/agent_pb.js";
import type { AgentListEntry } from "../../../gen/retinue/v1/agent_service_pb.js";
import { agents, isLost, messageOf } from "./api.js";
import { lost, pause, pauseAfter, reached } from "./connection.js";
import { may, me } from "./session.js";

/** Every agent that the filters of the server let through, whole trees. */
export const entries = signal<readonly AgentListEntry[]>([]);
export const loaded = signal(false);
export const listError = signal("");

/** Ended agents are asked for only where somebody wants to see them: there may be very many. */
export const includeTerminal = signal(false);
/** `*`: everybody's; empty: the key's own. */
export const account = signal("");

/** Agents that want a person, whatever the page narrows the list to. */
export const waiting = computed(() =>
  entries.value.filter(({ phase }) => phase === Phase.WAITING_FOR_INPUT).sort(byPhaseSince),
);

const QUICK_MS = 2000;
const CALM_MS = 10_000;
/** A list that takes long to make and read is asked for less often: at most a tenth of the time goes there. */
const SHARE = 10;

let nudge = () => {};

/** Looks again at once: after something was done here. */
export function refreshList(): void {
  nudge();
}

/** What one key was shown is not for the next. */
export function forgetList(): void {
  batch(() => {
    entries.value = [];
    loaded.value = false;
    listError.value = "";
  });
}

/** Keeps the list fresh until aborted. There is no stream of lists: it is asked for, less often when nothing changes. */
export async function pollList(ended: AbortSignal): Promise<void> {
  let failures = 0;
  let wait = QUICK_MS;
  while (!ended.aborted) {
    const round = new AbortController();
    nudge = () => round.abort();
    try {
      const began = performance.now();
      const found = await wholeList(ended);
      const took = performance.now() - began;
      const changed = fingerprint(found) !== fingerprint(entries.peek());
      wait = Math.max(changed ? QUICK_MS : Math.min(CALM_MS, wait * 1.25), took * SHARE);
      failures = 0;
      batch(() => {
        entries.value = changed ? found : entries.peek();
        loaded.value = true;
        listError.value = "";
      });
      reached();
    } catch (error) {
      if (ended.aborted || me.peek() === undefined) return;
      if (isLost(error)) lost();
      else listError.value = messageOf(error);
      wait = pauseAfter(++failures);
    }
    try {
      await pause(wait, AbortSignal.any([round.signal, ended]));
    } catch {
      wait = QUICK_MS;
    }
  }
}

async function wholeList(signal: AbortSignal): Promise<AgentListEntry[]> {
  const found: AgentListEntry[] = [];
  const whose = may("accounts:all") ? account.peek() : "";
  for (let pageToken = ""; ; ) {
    const page = await agents.listAgents(
      {
        includeDescendants: true,
        includeTerminal: includeTerminal.peek(),
        account: whose,
        pageToken,
      },
      { signal },
    );
    found.push(...page.entries);
    pageToken = page.nextPageToken;
    if (pageToken === "") return found;
  }
}

function fingerprint(list: readonly AgentListEntry[]): string {
  return list
    .map(({ agentId, phase, progressAt, cost, needsInput, phaseSince }) =>
      [
        agentId?.uid,
        phase,
        progressAt?.seconds,
        progressAt?.nanos,
        cost,
        needsInput,
        phaseSince?.nanos,
      ].join(),
    )
    .join("\n");
}

function byPhaseSince(a: AgentListEntry, b: AgentListEntry): number {
  return Number((b.phaseSince?.seconds ?? 0n) - (a.phaseSince?.seconds ?? 0n));
}
