import type { ContentBlock } from "@agentclientprotocol/sdk/unstable";
import type { Prompt } from "./runner.js";

/** `_meta` of a text block: `caller` or `platform`. */
export const FROM_META = "retinue/from";
/** `_meta` of the prompt: the run it belongs to. */
export const RUN_META = "retinue/run";

type Meta = Readonly<Record<string, unknown>> | null | undefined;

/** A prompt as ACP content: a text block per part, each saying in its `_meta` whose words it holds. */
export function promptBlocks(prompt: Prompt): ContentBlock[] {
  // Some model APIs refuse an empty text.
  const parts = prompt.parts.filter((part) => part.text !== "");
  if (parts.length === 0) throw new Error("a prompt needs text");
  return parts.map(({ from, text }) => ({ type: "text", text, _meta: { [FROM_META]: from } }));
}

export function promptMeta(prompt: Prompt): Record<string, unknown> {
  return { [RUN_META]: prompt.runId };
}

/** What the caller said, and nothing else: unmarked text counts as the platform's. Undefined: nothing. */
export function callerText(blocks: readonly ContentBlock[]): string | undefined {
  const texts = blocks.flatMap((block) =>
    block.type === "text" && (block._meta as Meta)?.[FROM_META] === "caller" ? [block.text] : [],
  );
  return texts.length === 0 ? undefined : texts.join("\n");
}

/** The run that a prompt belongs to; 0 where the client does not say. */
export function runOf(meta: Meta): number {
  const run = meta?.[RUN_META];
  return typeof run === "number" ? run : 0;
}
