import { useSignal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { Empty } from "../parts/notice.js";
import { type AgentView, createAgentView } from "../state/agent-view.js";
import { hrefOf } from "../state/route.js";
import { may } from "../state/session.js";
import { isAlive } from "../text/phases.js";
import { Composer } from "./agent/composer.js";
import { Conversation } from "./agent/conversation.js";
import { Details } from "./agent/details.js";
import { AgentHeader } from "./agent/header.js";

/** Everything about one agent, live. */
export function AgentPage({ uid }: { uid: string }) {
  const [view, setView] = useState<AgentView>();
  useEffect(() => {
    const opened = createAgentView(uid);
    setView(opened);
    return () => opened.close();
  }, [uid]);
  if (view === undefined) return null;
  if (view.error.value !== "" && view.status.value === undefined) {
    return (
      <Empty title={view.error.value}>
        <a href={hrefOf("agents")}>To the agents</a>
      </Empty>
    );
  }
  return <OpenAgent view={view} />;
}

export function OpenAgent({ view }: { view: AgentView }) {
  const pane = useSignal<"conversation" | "details">(view.withoutLog.value ? "details" : "conversation");
  const status = view.status.value;
  if (status === undefined) return <Empty title="One moment …" />;
  const withLog = !view.withoutLog.value;
  const shown = withLog ? pane.value : "details";
  return (
    <article class="agent" data-shown={shown} aria-labelledby="agent-title">
      <AgentHeader view={view} status={status} />
      {withLog ? (
        <div class="pane-switch" role="group" aria-label="Show">
          {(["conversation", "details"] as const).map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={shown === name}
              onClick={() => {
                pane.value = name;
              }}
            >
              {name === "conversation" ? "Conversation" : "Details"}
            </button>
          ))}
        </div>
      ) : null}
      {withLog ? (
        <div class="talk">
          <Conversation view={view} />
          {may("agents:message") && isAlive(status.phase) ? <Composer view={view} status={status} /> : null}
        </div>
      ) : null}
      <Details view={view} status={status} />
    </article>
  );
}
