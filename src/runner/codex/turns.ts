import { type JsonRecord, record, text } from "../acp/json.js";
import type { PermissionPolicy, Prompt, TurnResult, TurnSettings, Update } from "../runner.js";
import type { TurnError } from "../runner-error.js";
import { approvalOf } from "./approvals.js";
import type { Peer } from "./peer.js";
import type { ThreadReader } from "./thread-reader.js";
import { resultOf } from "./turn-result.js";

/** The turns of a thread, one at a time. */
export interface Turns {
  prompt(prompt: Prompt, onUpdate: (update: Update) => void): Promise<TurnResult>;
  cancel(): Promise<void>;
  apply(settings: TurnSettings): void;
  onNotification(method: string, params: JsonRecord): void;
  onRequest(method: string, params: JsonRecord): unknown;
  /** The process is gone. */
  lost(error: TurnError): void;
}

export interface TurnsOptions {
  readonly peer: Peer;
  readonly threadId: string;
  readonly reader: ThreadReader;
  readonly policy: PermissionPolicy;
  readonly settings: TurnSettings;
  readonly instructions: string;
  /** Sent with every turn; undefined: none, or none that the model's server takes. */
  readonly outputSchema: JsonRecord | undefined;
  readonly explain: (error: unknown) => Promise<TurnError>;
  /** A prompt is about to be written. */
  readonly onPrompt: () => void;
}

interface Turn {
  readonly onUpdate: (update: Update) => void;
  readonly ended: Promise<TurnResult>;
  readonly end: (result: TurnResult) => void;
  /** Known once codex has taken the prompt. */
  id: string;
  cancelAsked: boolean;
  /** What the listener threw. */
  thrown: { readonly error: unknown } | undefined;
}

export function createTurns(options: TurnsOptions): Turns {
  const { peer, threadId, reader, outputSchema } = options;
  let { settings } = options;
  let turn: Turn | undefined;
  /** Instructions of the thread's start would stay for good; these are said again when they have changed. */
  const context = { retinue_instructions: { value: options.instructions, kind: "application" } };
  const opening = {
    ...(options.instructions === "" ? {} : { additionalContext: context }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
  };

  const tell = (updates: readonly Update[]) => {
    for (const update of updates) {
      try {
        turn?.onUpdate(update);
      } catch (error) {
        if (turn !== undefined) turn.thrown ??= { error };
      }
    }
  };

  /** Once per turn, and only when codex knows the turn. */
  const interrupt = (own: Turn) => {
    if (own.id !== "") peer.request("turn/interrupt", { threadId, turnId: own.id }).catch(() => {});
  };

  const start = async (own: Turn, prompt: Prompt): Promise<void> => {
    options.onPrompt();
    reader.reset();
    const input = prompt.parts
      .filter((part) => part.text !== "")
      .map((part) => ({ type: "text", text: part.text, text_elements: [] }));
    try {
      const answer = await peer.request("turn/start", {
        threadId,
        input,
        ...turnSettings(settings),
        ...opening,
      });
      own.id = text(record(answer.turn).id);
      if (own.cancelAsked) interrupt(own);
    } catch (error) {
      own.end({ outcome: "failed", error: await options.explain(error) });
    }
  };

  return {
    apply(wanted) {
      settings = wanted;
    },
    lost(error) {
      turn?.end({ outcome: "failed", error });
    },
    async prompt(prompt, onUpdate) {
      if (turn !== undefined) throw new Error("a turn is held already: await its end first");
      let end: Turn["end"] = () => {};
      const ended = new Promise<TurnResult>((resolve) => {
        end = resolve;
      });
      const own: Turn = { onUpdate, ended, end, id: "", cancelAsked: false, thrown: undefined };
      turn = own;
      try {
        await start(own, prompt);
        const result = await ended;
        // Commands run in terminals that outlive the turn; whoever stops a turn means these, too.
        if (own.cancelAsked)
          await peer.request("thread/backgroundTerminals/clean", { threadId }).catch(() => {});
        if (own.thrown !== undefined) throw own.thrown.error;
        return outputSchema === undefined ? result : withOutput(result, reader.lastMessage());
      } finally {
        turn = undefined;
      }
    },
    async cancel() {
      if (turn === undefined) return;
      const own = turn;
      if (!own.cancelAsked) {
        own.cancelAsked = true;
        interrupt(own);
      }
      await own.ended;
    },
    onNotification(method, params) {
      if (params.threadId !== threadId) return;
      tell(reader.read(method, params, turn !== undefined));
      if (method === "turn/completed") turn?.end(resultOf(record(params.turn)));
    },
    onRequest(method, params) {
      const approval = approvalOf(method, params, reader.item);
      if (approval === undefined) return undefined;
      const { request } = approval;
      const decision = turn === undefined || turn.cancelAsked ? "cancelled" : options.policy(request);
      tell([{ type: "permission", request, decision }]);
      return approval.answer(decision);
    },
  };
}

/** Sticky in codex too, so that each is said every time: what is left out would stay as it was. */
function turnSettings({ model, reasoningEffort, serviceTier, fastMode }: TurnSettings): JsonRecord {
  const tier = serviceTier === "" && fastMode ? "fast" : serviceTier;
  return {
    ...(model === "" ? {} : { model }),
    ...(reasoningEffort === "" ? {} : { effort: reasoningEffort }),
    serviceTier: tier === "" || tier === "standard" ? null : tier,
  };
}

/** Under a schema the last message is the result itself. */
function withOutput(result: TurnResult, message: string): TurnResult {
  if (result.outcome !== "completed") return result;
  try {
    return { ...result, output: JSON.parse(message) };
  } catch {
    return result;
  }
}
