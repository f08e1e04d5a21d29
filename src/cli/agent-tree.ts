import type { AgentId } from "../../gen/retinue/v1/agent_id_pb.js";
import type { AgentListEntry, ListAgentsRequest } from "../../gen/retinue/v1/agent_service_pb.js";
import type { Server } from "./server.js";

/** An agent of a list with those below it. */
export interface AgentNode {
  readonly entry: AgentListEntry;
  readonly children: readonly AgentNode[];
}

type Filter = Partial<Pick<ListAgentsRequest, "account" | "includeTerminal" | "tenant">>;

/** Paths are at most this long: below there is nothing to ask for. */
const DEEPEST = 4;
const AT_ONCE = 16;

/** Lists are one level deep; this asks for all levels, a few lists at a time. */
export async function listTree(
  server: Server,
  parentId: AgentId | undefined,
  filter: Filter,
): Promise<AgentNode[]> {
  const atOnce = createLimit(AT_ONCE);
  const level = async (parent: AgentId | undefined): Promise<AgentNode[]> => {
    const entries = await atOnce(() => listLevel(server, parent, filter));
    return Promise.all(
      entries.map(async (entry) => {
        const leaf = (entry.agentId?.agent.length ?? 0) >= DEEPEST;
        return { entry, children: leaf ? [] : await level(entry.agentId) };
      }),
    );
  };
  return level(parentId);
}

async function listLevel(
  server: Server,
  parentId: AgentId | undefined,
  { account, ...filter }: Filter,
): Promise<AgentListEntry[]> {
  const entries: AgentListEntry[] = [];
  let pageToken = "";
  do {
    const page = await server.agents.listAgents({
      ...filter,
      pageToken,
      // Children belong to whoever owns their root.
      ...(parentId === undefined ? { account: account ?? "" } : { parentId }),
    });
    entries.push(...page.entries);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return entries;
}

/** Every agent of a tree with its drawn branch, in the order of the drawing. */
export function branches(
  nodes: readonly AgentNode[],
  indent: string | undefined = undefined,
): { branch: string; entry: AgentListEntry }[] {
  return nodes.flatMap(({ entry, children }, i) => {
    const last = i === nodes.length - 1;
    const branch = indent === undefined ? "" : `${indent}${last ? "└─ " : "├─ "}`;
    const below = indent === undefined ? "" : `${indent}${last ? "   " : "│  "}`;
    return [{ branch, entry }, ...branches(children, below)];
  });
}

function createLimit(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
}
