import { Phase } from "../../../gen/retinue/v1/agent_pb.js";
import type { AgentListEntry } from "../../../gen/retinue/v1/agent_service_pb.js";
import type { Matches } from "../state/tree.js";

/** Every word must occur somewhere in what is known about an agent; a phase narrows further. */
export function search(text: string, phase: Phase): Matches {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (entry) =>
    (phase === Phase.UNSPECIFIED || entry.phase === phase) &&
    (words.length === 0 || words.every((word) => haystack(entry).includes(word)));
}

function haystack({ agentId, needsInput, labels }: AgentListEntry): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const { agent = [], account, workspace, uid } = agentId ?? {};
  return [agent.join("/"), account, workspace, uid, needsInput, ...pairs].join("\n").toLowerCase();
}
