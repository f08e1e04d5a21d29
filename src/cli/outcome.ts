import { type AgentStatus, Phase } from "../../gen/retinue/v1/agent_pb.js";
import { WaitReason } from "../../gen/retinue/v1/agent_service_pb.js";
import { pathOf } from "./agent-address.js";
import { EXIT, type ExitCode } from "./exit.js";
import { said } from "./fields.js";
import type { Paint } from "./paint.js";
import { PHASES } from "./words.js";

const BY_PHASE: Partial<Record<Phase, ExitCode>> = {
  [Phase.COMPLETED]: EXIT.ok,
  [Phase.FAILED]: EXIT.agentFailed,
  [Phase.CANCELED]: EXIT.agentCanceled,
  [Phase.WAITING_FOR_INPUT]: EXIT.needsInput,
};

const BY_REASON: Partial<Record<WaitReason, ExitCode>> = {
  [WaitReason.FOLLOW_UP_DONE]: EXIT.ok,
  [WaitReason.FOLLOW_UP_CLEARED]: EXIT.cleared,
  [WaitReason.TIMEOUT]: EXIT.timeout,
};

/** What a script learns from where an agent has come to. */
export function outcomeCode(status: AgentStatus, reason = WaitReason.UNSPECIFIED): ExitCode {
  return BY_REASON[reason] ?? BY_PHASE[status.phase] ?? EXIT.ok;
}

/** What a person is told when an agent wants attention. */
export function outcomeLines(status: AgentStatus, paint: Paint): string[] {
  const path = pathOf(status.agentId);
  const { word, mark, colour } = PHASES[status.phase];
  const text = said(status.needsInput || status.result || status.lastError?.message || "");
  const lines = [
    `${paint(colour, mark)} ${paint("bold", path)} ${paint(colour, word)}${text === "" ? "" : `: ${text}`}`,
  ];
  if (status.structuredOutput !== undefined)
    lines.push(paint("dim", `  retinue status ${path} shows its structured output`));
  if (status.phase === Phase.WAITING_FOR_INPUT) lines.push(`  → answer with: retinue send ${path} TEXT`);
  return lines;
}

/** What a person is told when a wait has ended for another reason. */
export function reasonLines(reason: WaitReason, { agentId, phase, lastTurn }: AgentStatus): string[] {
  const path = pathOf(agentId);
  switch (reason) {
    case WaitReason.TIMEOUT:
      return [`timed out; ${path} is ${PHASES[phase].word} and goes on`];
    case WaitReason.FOLLOW_UP_CLEARED:
      return [`${path}: the message was cleared or removed, and never delivered`];
    case WaitReason.FOLLOW_UP_DONE:
      return [said(lastTurn?.summary ?? "")].filter((summary) => summary !== "");
    default:
      return [];
  }
}
