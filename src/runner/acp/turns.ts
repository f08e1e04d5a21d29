import {
  type ClientContext,
  methods,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from "@agentclientprotocol/sdk/unstable";
import { promptBlocks, promptMeta } from "../prompt-blocks.js";
import type { PermissionPolicy, Prompt, TurnResult, Update } from "../runner.js";
import { passing, type TurnError } from "../runner-error.js";
import type { CostMeter } from "./cost-meter.js";
import { chooseOption, permissionRequest } from "./permission.js";
import { resultOf } from "./turn-answer.js";
import type { UpdateReader } from "./updates.js";

/** The turns of a session, one at a time. */
export interface Turns {
  prompt(prompt: Prompt, onUpdate: (update: Update) => void): Promise<TurnResult>;
  cancel(): Promise<void>;
  held(): boolean;
  tell(updates: readonly Update[]): void;
  /** The structured result of the turn; the last one counts. */
  gaveOutput(output: unknown): void;
  permit(request: RequestPermissionRequest): RequestPermissionResponse;
}

export interface TurnsOptions {
  readonly agent: ClientContext;
  readonly sessionId: string;
  readonly reader: UpdateReader;
  readonly cost: CostMeter;
  readonly policy: PermissionPolicy;
  readonly emptyUsageIsFailure: boolean;
  readonly explain: (error: unknown) => Promise<TurnError>;
  /** A prompt is about to be written. */
  readonly onPrompt: () => void;
}

interface Turn {
  readonly onUpdate: (update: Update) => void;
  readonly ended: Promise<void>;
  cancelAsked: boolean;
  output: unknown;
  /** What the listener threw. */
  thrown: { readonly error: unknown } | undefined;
}

export function createTurns(options: TurnsOptions): Turns {
  const { agent, sessionId, reader, cost } = options;
  let turn: Turn | undefined;

  const tell = (updates: readonly Update[]) => {
    for (const update of updates) {
      try {
        turn?.onUpdate(update);
      } catch (error) {
        if (turn !== undefined) turn.thrown ??= { error };
      }
    }
  };

  const ask = async (prompt: Prompt): Promise<TurnResult> => {
    const request = { sessionId, prompt: promptBlocks(prompt), _meta: promptMeta(prompt) };
    options.onPrompt();
    cost.prompted();
    try {
      const answer: unknown = await agent.request(methods.agent.session.prompt, request);
      return resultOf(answer, options.emptyUsageIsFailure);
    } catch (error) {
      const told = await options.explain(error);
      // Some answer a cancel with an error; the end of the process stays an error.
      const cancelled = turn?.cancelAsked === true && told.kind === "agent_error" && !told.fatal;
      return cancelled ? { outcome: "cancelled" } : { outcome: "failed", error: told };
    }
  };

  const unasked = (result: TurnResult) => result.outcome === "cancelled" && turn?.cancelAsked === false;

  const run = async (prompt: Prompt): Promise<TurnResult> => {
    let result = await ask(prompt);
    // A cancel that crossed the end of the last turn swallows the next prompt in some programs: once is a race.
    if (unasked(result)) result = await ask(prompt);
    if (!unasked(result)) return result;
    const message = "the agent program cancelled the turn by itself, twice";
    return { ...result, outcome: "failed", error: passing("agent_cancelled", message) };
  };

  return {
    tell,
    held: () => turn !== undefined,
    gaveOutput(output) {
      if (turn !== undefined && output !== undefined) turn.output = output;
    },
    async prompt(prompt, onUpdate) {
      if (turn !== undefined) throw new Error("a turn is held already: await its end first");
      let end = () => {};
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      const own: Turn = { onUpdate, ended, cancelAsked: false, output: undefined, thrown: undefined };
      turn = own;
      try {
        const result = await run(prompt);
        if (own.thrown !== undefined) throw own.thrown.error;
        const told = withCost(result, reader.takeUnreported());
        return own.output === undefined ? told : { ...told, output: own.output };
      } finally {
        turn = undefined;
        reader.tools.clear();
        end();
      }
    },
    async cancel() {
      if (turn === undefined) return;
      const { ended } = turn;
      // Once per turn: a second one might arrive after its end.
      if (!turn.cancelAsked) {
        turn.cancelAsked = true;
        agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => {});
      }
      await ended;
    },
    permit(asked) {
      const request = permissionRequest(asked, reader.tools.nameOf(asked.toolCall.toolCallId));
      tell(reader.tools.announce(request.toolCallId));
      const decision = turn === undefined || turn.cancelAsked ? "cancelled" : options.policy(request);
      const optionId = decision === "cancelled" ? undefined : chooseOption(asked.options, decision);
      tell([{ type: "permission", request, decision: optionId === undefined ? "cancelled" : decision }]);
      return {
        outcome: optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId },
      };
    },
  };
}

/** Money that no update of a turn has told yet. */
function withCost(result: TurnResult, cost: number): TurnResult {
  if (cost === 0) return result;
  const usage = result.usage ?? { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, cost: 0 };
  return { ...result, usage: { ...usage, cost } };
}
