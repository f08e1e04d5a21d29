import type { JsonValue } from "@bufbuild/protobuf";
import { TurnState } from "../../../gen/retinue/v1/agent_pb.js";
import { EventType, type SetupState } from "../../../gen/retinue/v1/event_pb.js";
import { invalidField } from "../fault.js";
import type { Agent, Runtime } from "./agent.js";
import {
  type Context,
  change,
  type Decision,
  type Draft,
  decided,
  openDraft,
  type Reported,
  record,
  unchanged,
} from "./decision.js";
import { fingerprintOf, type ToolUse } from "./permission.js";
import { promoteDue } from "./queue.js";
import { type Fence, fencedTurn, type HeldTurn } from "./turn.js";

/** A question is one line, whatever the agent wants to run. */
const TITLE_MAX = 300;

const STALE: Reported = { stale: true };

/** A report of the turn that is held: a sign of life, and whatever `then` makes of it. */
export function reported(
  agent: Agent,
  fence: Fence,
  context: Context,
  then: (turn: HeldTurn, draft: Draft) => Partial<HeldTurn>,
): Decision<Reported> {
  const turn = fencedTurn(agent, fence);
  if (turn === undefined) return unchanged(agent, STALE);
  const draft = openDraft(agent);
  promoteDue(draft, context.nowMs);
  const patch = then(turn, draft);
  const progressAtMs = context.nowMs;
  change(draft, { turn: { ...turn, progressAtMs, ...patch }, progressAtMs, recoveries: 0 });
  return decided(draft, { stale: false });
}

/**
 * Marks the prompt as sent, before it is written. The reply says whether it may be written: not after a stop.
 * The same mark serves the first prompt, the "continue" of a recovery, reminders and repairs.
 */
export function promptSent(
  agent: Agent,
  fence: Fence,
  context: Context,
): Decision<Reported & { send: boolean }> {
  const turn = fencedTurn(agent, fence);
  if (turn === undefined) return unchanged(agent, { stale: true, send: false });
  if (turn.state === TurnState.INTERRUPTING) return unchanged(agent, { stale: false, send: false });
  const draft = openDraft(agent);
  promoteDue(draft, context.nowMs);
  change(draft, {
    turn: {
      ...turn,
      state: TurnState.RUNNING,
      promptSent: true,
      nudge: undefined,
      retryAtMs: undefined,
      // The silence clock starts with the prompt; it is no sign of life of the agent.
      progressAtMs: context.nowMs,
    },
  });
  return decided(draft, { stale: false, send: true });
}

/** A sign of life. */
export function progressed(agent: Agent, fence: Fence, context: Context): Decision<Reported> {
  return reported(agent, fence, context, () => ({}));
}

/** What the agent really runs on, once its process is up. */
export function runtimeReported(
  agent: Agent,
  input: Fence & { readonly runtime: Runtime },
  context: Context,
): Decision<Reported> {
  return reported(agent, input, context, (_turn, draft) => {
    change(draft, { runtime: input.runtime });
    return {};
  });
}

/**
 * Progress of making ready for the turn. No sign of life of the agent: a set-up that is cut off again and again must
 * count as no progress.
 */
export function setUpReported(agent: Agent, input: Fence & { readonly step: SetUpStep }): Decision<Reported> {
  if (fencedTurn(agent, input) === undefined) return unchanged(agent, STALE);
  const draft = openDraft(agent);
  record(draft, EventType.SETUP, { case: "setup", value: input.step });
  return decided(draft, { stale: false });
}

export interface SetUpStep {
  readonly name: string;
  readonly state: SetupState;
  readonly output: string;
}

/** The agent asks its caller; its turn goes on until it ends it. */
export function askedInput(
  agent: Agent,
  input: Fence & { readonly question: string },
  context: Context,
): Decision<Reported> {
  const question = input.question.trim();
  if (question === "") throw invalidField("question", "required: what do you need to know?");
  return reported(agent, input, context, (_turn, draft) => {
    change(draft, { lastWord: { type: "ask", question } });
    record(draft, EventType.INPUT_REQUESTED, { case: "inputRequested", value: { question } });
    return { spoke: true };
  });
}

/** The program was refused something; the turn is to end with the question whether it may. */
export function askedPermission(
  agent: Agent,
  input: Fence & { readonly use: ToolUse; readonly title: string },
  context: Context,
): Decision<Reported> {
  const { use, title } = input;
  const question = `May I use ${use.tool || use.kind}: ${shown(title)}? Answer "allow" to let me, once.`;
  return reported(agent, input, context, (_turn, draft) => {
    change(draft, { lastWord: { type: "ask", question, permission: fingerprintOf(use) } });
    record(draft, EventType.INPUT_REQUESTED, { case: "inputRequested", value: { question } });
    return { spoke: true };
  });
}

/** The agent declares the work done; `output` has passed the schema, and where it is missing one was given before. */
export function declaredDone(
  agent: Agent,
  input: Fence & { readonly result: string; readonly output?: JsonValue | undefined },
  context: Context,
): Decision<Reported> {
  return reported(agent, input, context, (turn, draft) => {
    change(draft, { lastWord: { type: "complete", result: input.result } });
    return { spoke: true, output: input.output === undefined ? turn.output : input.output };
  });
}

function shown(title: string): string {
  const line = title.trim().replaceAll(/\s+/g, " ");
  return line.length > TITLE_MAX ? `${line.slice(0, TITLE_MAX)}…` : line;
}
