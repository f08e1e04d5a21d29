import { TurnOutcome } from "../../../../gen/retinue/v1/agent_pb.js";
import { Icon } from "../../parts/icon.js";
import { At } from "../../parts/time.js";
import { agentHref } from "../../state/route.js";
import { type Item, OUTCOMES } from "../../text/conversation.js";
import { count, duration, money, msOf } from "../../text/format.js";
import { Code, Markdown } from "../../text/markdown.js";

/** One piece of the conversation. */
export function ConversationItem({ item }: { item: Item }) {
  switch (item.kind) {
    case "run":
      return (
        <h3 class="run">
          <span>
            Run {item.runId}
            {item.attempt > 1 ? `, attempt ${item.attempt}` : ""}
          </span>
          <At ms={item.at} />
        </h3>
      );
    case "runEnd":
      return <RunEnd item={item} />;
    case "said":
      return <Said item={item} />;
    case "message":
      return (
        <div class="message">
          <Markdown text={item.text} />
          {item.partial ? <p class="dim">… cut off</p> : null}
        </div>
      );
    case "question":
      return (
        <div class="question-box">
          <p class="who">asks</p>
          <Markdown text={item.text} />
        </div>
      );
    case "tool":
      return <ToolCall item={item} />;
    case "note":
      return (
        <p class={`note ${item.tone}`}>
          {item.childUid ? <a href={agentHref(item.childUid)}>{item.text}</a> : item.text}
          <At ms={item.at} />
        </p>
      );
  }
}

type Of<K extends Item["kind"]> = Extract<Item, { kind: K }>;

function Said({ item }: { item: Of<"said"> }) {
  const platform = item.sender === "platform";
  return (
    <div class={`said${platform ? " platform" : ""}`}>
      <p class="who">
        {platform ? "Retinue" : (item.sender.split("/").at(-1) ?? "")} <At ms={item.at} />
      </p>
      <p class="plain-text">{item.text}</p>
    </div>
  );
}

function RunEnd({ item }: { item: Of<"runEnd"> }) {
  const { outcome, usage, startedAt, endedAt, error, runId } = item.turn;
  const took = (msOf(endedAt) ?? 0) - (msOf(startedAt) ?? 0);
  const bad = outcome !== TurnOutcome.COMPLETED;
  return (
    <p class={`run-end${bad ? " bad" : ""}`}>
      Run {String(runId)} {OUTCOMES[outcome]} after {duration(took)}
      {usage && usage.totalTokens > 0n ? ` · ${count(usage.totalTokens)} tokens` : ""}
      {usage && usage.cost > 0 ? ` · ${money(usage.cost)}` : ""}
      {error ? ` · ${error.message}` : ""}
    </p>
  );
}

function ToolCall({ item }: { item: Of<"tool"> }) {
  const state = item.output === undefined ? "no answer yet" : item.failed ? "failed" : "";
  const input = item.input === undefined ? "" : JSON.stringify(item.input, null, 2);
  return (
    <details class={`tool${item.failed ? " failed" : ""}`}>
      <summary>
        <Icon name="tool" />
        <span class="title">{item.title}</span>
        <span class="dim">{state}</span>
        <At ms={item.at} />
      </summary>
      {input === "" ? null : <Code text={input} label="Input" />}
      {item.output ? <Code text={item.output} label="Output" /> : null}
    </details>
  );
}
