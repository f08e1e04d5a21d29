import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { AgentId } from "../../gen/retinue/v1/agent_id_pb.js";
import type { AgentListEntry, ListAgentsRequest } from "../../gen/retinue/v1/agent_service_pb.js";
import { pathOf } from "./agent-address.js";
import type { Server } from "./server.js";

/** An agent of a list with those below it. */
export interface AgentNode {
  readonly entry: AgentListEntry;
  readonly children: AgentNode[];
}

type Filter = Partial<Pick<ListAgentsRequest, "account" | "includeTerminal" | "tenant">>;

/** Every agent below one, or all trees of an account. */
export async function listTree(
  server: Server,
  parentId: AgentId | undefined,
  { account = "", ...filter }: Filter,
): Promise<AgentNode[]> {
  const entries: AgentListEntry[] = [];
  let pageToken = "";
  do {
    const page = await server.agents.listAgents({
      ...filter,
      pageToken,
      includeDescendants: true,
      // Children belong to whoever owns their root.
      ...(parentId === undefined ? { account } : { parentId }),
    });
    entries.push(...page.entries);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return treeOf(entries);
}

/** Puts each below its parent. One whose parent is not in the list stands at the top. */
export function treeOf(entries: readonly AgentListEntry[]): AgentNode[] {
  const roots: AgentNode[] = [];
  const nodes: AgentNode[] = entries.map((entry) => ({ entry, children: [] }));
  const byPlace = new Map<string, AgentNode[]>();
  for (const node of nodes) {
    const place = placeOf(node.entry, node.entry.agentId?.agent ?? []);
    byPlace.set(place, [...(byPlace.get(place) ?? []), node]);
  }
  for (const { entry, children } of nodes) {
    const above = byPlace.get(placeOf(entry, entry.agentId?.agent.slice(0, -1) ?? [])) ?? [];
    // A path can be used again, but not while anything lives below it: the newest that is older than the child is it.
    const [parent] = above
      .filter((node) => bornAt(node.entry) <= bornAt(entry))
      .sort((a, b) => bornAt(b.entry) - bornAt(a.entry));
    (parent?.children ?? roots).push({ entry, children });
  }
  return roots;
}

function placeOf({ agentId }: AgentListEntry, path: readonly string[]): string {
  return JSON.stringify([agentId?.ownerProvider, agentId?.account, agentId?.workspace, ...path]);
}

function bornAt({ createdAt }: AgentListEntry): number {
  return createdAt === undefined ? 0 : timestampMs(createdAt);
}

/** Every agent of a tree with its drawn branch and the name to show, in the order of the drawing. */
export function branches(
  nodes: readonly AgentNode[],
  indent?: string,
): { branch: string; name: string; entry: AgentListEntry }[] {
  return nodes.flatMap(({ entry, children }, i) => {
    const last = i === nodes.length - 1;
    const below = indent === undefined ? "" : `${indent}${last ? "   " : "│  "}`;
    const [branch, name] =
      indent === undefined
        ? ["", pathOf(entry.agentId)]
        : [`${indent}${last ? "└─ " : "├─ "}`, entry.agentId?.agent.at(-1) ?? ""];
    return [{ branch, name, entry }, ...branches(children, below)];
  });
}
