import { FollowUpState } from "../../../gen/retinue/v1/follow_up_pb.js";
import type { Agent } from "../../domain/agent/agent.js";
import type { Prompt as PromptType } from "../../domain/agent/desired.js";
import type { FollowUp } from "../../domain/agent/follow-up.js";
import { isOpenTask } from "../../domain/agent/task.js";
import { TOOL } from "../../runner/agent-tools.js";
import type { PromptPart } from "../../runner/runner.js";
import type { Store } from "../../storage/store.js";

/** What a turn is given; `instructions`: those that have yet to be said. Text of ours stands apart from the caller's: nothing in it may pass for their words. */
export async function promptParts(
  store: Store,
  agent: Agent,
  prompt: PromptType,
  instructions: string,
): Promise<PromptPart[]> {
  const preface = instructions === "" ? [] : [platform(instructions)];
  switch (prompt) {
    case "message":
      return [
        ...preface,
        ...(await messageParts(store, agent)),
        ...grantPart(agent),
        ...checklistPart(agent),
        ...schemaPart(agent),
      ];
    case "continue": {
      // The mark is older than the prompt: a crash between the two leaves a session that never saw the message.
      const cut = platform(
        "You were interrupted by a failure beneath you. The message of this run is repeated above, in case it did " +
          "not reach you. Continue where you left off.",
      );
      return [...preface, ...(await messageParts(store, agent)), cut];
    }
    case "reminder":
    case "repair":
      return [...preface, platform(nudgeText(agent))];
  }
}

function grantPart({ turn }: Agent): PromptPart[] {
  if (turn?.granted === undefined) return [];
  return [platform("What you asked leave for is allowed now, once, with the same input. Do it again.")];
}

async function messageParts(store: Store, agent: Agent): Promise<PromptPart[]> {
  const ids = agent.turn?.followUpIds ?? [];
  if (ids.length === 0) return [{ from: "caller", text: agent.description }];
  const parts: PromptPart[] = [];
  for (const id of ids) {
    const row = await store.followUp(agent.uid, id);
    if (row?.state !== FollowUpState.DELIVERED) continue;
    const { origin, description } = JSON.parse(row.body) as FollowUp;
    parts.push({ from: origin === "caller" ? "caller" : "platform", text: description });
  }
  return parts;
}

function checklistPart(agent: Agent): PromptPart[] {
  const open = agent.tasks.filter(isOpenTask);
  if (open.length === 0) return [];
  return [platform(`Your checklist:\n${open.map(({ id, subject }) => `- ${id}: ${subject}`).join("\n")}`)];
}

function schemaPart({ settings }: Agent): PromptPart[] {
  const { outputSchema } = settings.values;
  if (outputSchema === "") return [];
  return [
    platform(
      `Give your structured output with the tool ${TOOL.output} or ${TOOL.complete}. It must fit this JSON Schema:\n` +
        outputSchema,
    ),
  ];
}

function nudgeText({ turn }: Agent): string {
  const nudge = turn?.nudge;
  return nudge?.type === "repair"
    ? `Your structured result does not fit the output schema: ${nudge.text}. Give it again, with the tool ${TOOL.output}.`
    : `These tasks of your checklist are still open: ${nudge?.text ?? ""}. Finish them, or delete them.`;
}

function platform(text: string): PromptPart {
  return { from: "platform", text };
}
