import type { AgentListEntry } from "../../../gen/retinue/v1/agent_service_pb.js";

/** A row of the tree as it is shown, top to bottom. */
export interface Row {
  readonly entry: AgentListEntry;
  readonly uid: string;
  readonly name: string;
  /** 1 for a root. */
  readonly level: number;
  readonly place: number;
  readonly siblings: number;
  readonly children: number;
  readonly open: boolean;
  /** Shown because of what is below it, not because it was looked for. */
  readonly onTheWay: boolean;
}

export type Matches = (entry: AgentListEntry) => boolean;

const uidOf = (entry: AgentListEntry) => entry.agentId?.uid ?? "";
export const pathOf = (entry: AgentListEntry) => entry.agentId?.agent.join("/") ?? "";

/**
 * The rows of a tree. What matches is shown with everything above it; an agent whose parent is not listed is a root.
 * Closed agents hide what is below them.
 */
export function rowsOf(
  entries: readonly AgentListEntry[],
  matches: Matches,
  closed: ReadonlySet<string>,
): Row[] {
  const known = new Set(entries.map(uidOf));
  const below = new Map<string, AgentListEntry[]>();
  for (const entry of entries) {
    const parent = known.has(entry.parentUid) ? entry.parentUid : "";
    const list = below.get(parent);
    if (list) list.push(entry);
    else below.set(parent, [entry]);
  }
  const wanted = new Map<string, boolean>();
  const isWanted = (entry: AgentListEntry): boolean => {
    const uid = uidOf(entry);
    const answer = wanted.get(uid) ?? (matches(entry) || (below.get(uid) ?? []).some(isWanted));
    wanted.set(uid, answer);
    return answer;
  };

  const rows: Row[] = [];
  const add = (parent: string, level: number): void => {
    const shown = (below.get(parent) ?? []).filter(isWanted);
    shown.forEach((entry, i) => {
      const uid = uidOf(entry);
      const children = (below.get(uid) ?? []).filter(isWanted).length;
      const open = children > 0 && !closed.has(uid);
      const name = entry.agentId?.agent.at(-1) ?? "";
      const onTheWay = !matches(entry);
      rows.push({
        entry,
        uid,
        name,
        level,
        place: i + 1,
        siblings: shown.length,
        children,
        open,
        onTheWay,
      });
      if (open) add(uid, level + 1);
    });
  };
  add("", 1);
  return rows;
}

/** Uids of the agents above one, the root first, as far as they are listed. */
export function ancestorsOf(entries: readonly AgentListEntry[], uid: string): string[] {
  const parents = new Map(entries.map((entry) => [uidOf(entry), entry.parentUid]));
  const chain: string[] = [];
  for (let above = parents.get(uid); above; above = parents.get(above)) chain.unshift(above);
  return chain;
}
