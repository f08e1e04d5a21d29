import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { EventType } from "../../../gen/retinue/v1/event_pb.js";
import type { EventDetail } from "../../domain/agent/decision.js";
import { type Fence, fencedTurn } from "../../domain/agent/turn.js";
import { progressed } from "../../domain/agent/turn-report.js";
import { usageReported } from "../../domain/agent/usage-report.js";
import type { Update, UsageDelta } from "../../runner/runner.js";
import type { Change } from "../../storage/store.js";
import type { Agents } from "./agents.js";
import type { Hub } from "./hub.js";
import type { Masks } from "./masks.js";

/** Writes what a turn says and does into the log, in order: chunks go out live, whole messages are stored. */
export interface Transcript {
  readonly update: (update: Update) => void;
  /** Stores what is left; resolves when everything is. */
  flush(partial: boolean): Promise<void>;
  lastMessage(): string;
}

export interface TranscriptOptions {
  readonly agents: Agents;
  readonly hub: Hub;
  readonly masks: Masks;
  readonly uid: string;
  readonly fence: Fence;
  /** Adds what the model's prices make of tokens whose cost nobody has told. */
  readonly priced: (usage: UsageDelta) => UsageDelta;
  /** The session's row at the program's own count of dollars. */
  readonly sessionAt: (costSoFar: number) => Change;
}

export function createTranscript(options: TranscriptOptions): Transcript {
  const { agents, hub, masks, uid, fence, priced, sessionAt } = options;
  let text = "";
  let last = "";
  let said = 0;
  let stored: Promise<unknown> = Promise.resolve();

  /** Late events are dropped by the fence; a lost one is no reason to end a turn. */
  function append(type: EventType, detail: EventDetail): void {
    stored = agents.change("agent", (stage) => {
      const value = stage.agent(uid);
      const turn = value && fencedTurn(value.agent, fence);
      if (value === undefined || turn === undefined) return;
      const decision = progressed(value.agent, fence, stage.contextOf(value.agent));
      const event = { type, runId: fence.runId, attempt: fence.attempt, actor: undefined, detail };
      stage.apply({ ...decision, events: [...decision.events, event] });
    });
    stored.catch(() => {});
  }

  /** A secret may come in pieces: as much as could be the beginning of one is held back until the end. */
  function sayLive(all: boolean): void {
    const shown = masks.text(uid, text);
    const until = all ? shown.length : shown.length - masks.longest(uid);
    if (until <= said) return;
    hub.say(uid, { ...fence, text: shown.slice(said, until) });
    said = until;
  }

  function endMessage(partial: boolean): void {
    if (text === "") return;
    sayLive(true);
    said = 0;
    last = text;
    append(EventType.MESSAGE, { case: "message", value: { text, partial } });
    text = "";
  }

  return {
    lastMessage: () => last,
    async flush(partial) {
      endMessage(partial);
      await stored;
    },
    update(update) {
      switch (update.type) {
        case "text":
          text += update.text;
          sayLive(false);
          return;
        case "toolCall": {
          endMessage(false);
          const input = fromJson(ValueSchema, (update.input ?? null) as JsonValue);
          append(EventType.TOOL_CALL, {
            case: "toolCall",
            value: { toolCallId: update.id, title: update.title, input },
          });
          return;
        }
        case "toolResult": {
          const { id, failed, output } = update;
          append(EventType.TOOL_RESULT, { case: "toolResult", value: { toolCallId: id, failed, output } });
          return;
        }
        case "usage": {
          const usage = priced(update.usage);
          stored = agents.change("agent", (stage) => {
            const value = stage.agent(uid);
            if (value === undefined) return;
            const report = { ...fence, usage };
            const { stale } = stage.apply(usageReported(value.agent, report, stage.contextOf(value.agent)));
            // In one commit: a crash between the two would count the same money twice, or never.
            if (!stale) stage.add(sessionAt(update.costSoFar));
          });
          stored.catch(() => {});
          return;
        }
        case "thought":
        case "plan":
        case "permission":
          return;
      }
    },
  };
}
