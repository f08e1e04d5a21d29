import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import type { AgentId } from "../../../gen/retinue/v1/agent_id_pb.js";
import { type WatchResponse, WatchResponseSchema } from "../../../gen/retinue/v1/timeline_service_pb.js";
import type { Server } from "../server.js";
import { wantsAttention } from "../words.js";
import { watch } from "./watch.js";

export interface TreeWatch {
  readonly signal: AbortSignal;
  /** The agent at the top from its first event; otherwise from a snapshot on. */
  readonly fromStart: boolean;
  /** Those that are spawned meanwhile from their first event; otherwise from a snapshot on. */
  readonly spawnedFromStart: boolean;
  onUpdate(id: AgentId, response: WatchResponse): void;
  onLost(lost: boolean): void;
  /** Asked when the agent at the top rests or has ended; true: that is enough. */
  isOver(): boolean;
}

/** Once the top has ended, those below it have, too, or are about to: their last words are on their way. */
const LAST_WORDS_MS = 2000;

/** Follows an agent and everything below it, whatever is spawned meanwhile. */
export async function watchTree(server: Server, root: AgentId, tree: TreeWatch): Promise<void> {
  const over = new AbortController();
  const leave = () => over.abort();
  tree.signal.addEventListener("abort", leave, { once: true });
  const below = new Map<string, Promise<unknown>>();
  let failure: unknown;

  const add = (id: AgentId, fromStart: boolean) => {
    if (below.has(id.uid) || over.signal.aborted) return;
    const following = follow(id, fromStart).catch((error: unknown) => {
      if (over.signal.aborted) return;
      failure = error;
      over.abort();
    });
    below.set(id.uid, following);
  };

  /** False: it rests, and nobody wants to see more. */
  async function follow(id: AgentId, fromStart: boolean): Promise<boolean> {
    const after = fromStart ? { uid: id.uid, seq: 0n } : undefined;
    for await (const response of watch(server, id, { after, signal: over.signal, onLost: tree.onLost })) {
      tree.onUpdate(id, response);
      for (const child of await childrenIn(server, id, response)) {
        add(child, response.update.case === "event" && tree.spawnedFromStart);
      }
      if (id === root && restsIn(response) && tree.isOver()) return false;
    }
    // The log says that it has ended, the status with which result.
    const { status } = await server.agents.getAgentStatus({ agentId: id });
    if (status)
      tree.onUpdate(id, create(WatchResponseSchema, { update: { case: "snapshot", value: status } }));
    return true;
  }

  try {
    const ended = await follow(root, tree.fromStart);
    if (ended)
      await Promise.race([Promise.all(below.values()), sleep(LAST_WORDS_MS, undefined, { ref: false })]);
  } catch (error) {
    throw failure ?? error;
  } finally {
    over.abort();
    tree.signal.removeEventListener("abort", leave);
    await Promise.all(below.values());
  }
}

/** Children that a message of the stream tells of. */
async function childrenIn(server: Server, id: AgentId, { update }: WatchResponse): Promise<AgentId[]> {
  if (update.case === "event") {
    const kind = update.value.payload?.kind;
    return kind?.case === "child" && kind.value.child ? [kind.value.child] : [];
  }
  if (update.case !== "snapshot" || update.value.children.length === 0) return [];
  const { entries } = await server.agents.listAgents({ parentId: id, includeTerminal: true });
  return entries.flatMap(({ agentId }) => agentId ?? []);
}

function restsIn({ update }: WatchResponse): boolean {
  if (update.case === "snapshot") return wantsAttention(update.value.phase);
  const kind = update.case === "event" ? update.value.payload?.kind : undefined;
  return kind?.case === "phase" && wantsAttention(kind.value.to);
}
