import { useState } from "preact/hooks";
import type { AgentListEntry } from "../../../gen/retinue/v1/agent_service_pb.js";
import { useAction } from "../parts/action.js";
import { Empty, Problem, tell } from "../parts/notice.js";
import { Ago } from "../parts/time.js";
import { loaded, refreshList, waiting } from "../state/agent-list.js";
import { agents } from "../state/api.js";
import { hrefOf } from "../state/route.js";
import { may } from "../state/session.js";
import { pathOf } from "../state/tree.js";
import { msOf } from "../text/format.js";
import { Markdown } from "../text/markdown.js";

/** Every agent that wants a person, the newest first. */
export function InboxPage() {
  const list = waiting.value;
  return (
    <section class="page" aria-labelledby="inbox-title">
      <header class="bar">
        <h1 id="inbox-title">Inbox</h1>
      </header>
      {list.length === 0 ? (
        <Empty title={loaded.value ? "Nobody waits for you." : "One moment …"} />
      ) : (
        <ul class="inbox">
          {list.map((entry) => (
            <li key={entry.agentId?.uid}>
              <Question entry={entry} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Question({ entry }: { entry: AgentListEntry }) {
  const [text, setText] = useState("");
  const path = pathOf(entry);
  const uid = entry.agentId?.uid ?? "";
  const answer = useAction(async () => {
    await agents.queueFollowUp({ agentId: { uid }, description: text });
    tell(`Answered ${path}.`);
    refreshList();
  });
  const submit = (event: Event) => {
    event.preventDefault();
    void answer.run();
  };
  return (
    <article class="card">
      <header>
        <h2>
          <a href={hrefOf("agents", uid)}>{path}</a>
        </h2>
        <span class="tag">{entry.agentId?.account}</span>
        <span class="dim">
          asked <Ago ms={msOf(entry.phaseSince)} />
        </span>
      </header>
      <Markdown text={entry.needsInput} />
      {may("agents:message") ? (
        <form class="answer" onSubmit={submit}>
          <textarea
            aria-label={`Answer to ${path}`}
            placeholder="Your answer"
            rows={1}
            required
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
            }}
          />
          <button type="submit" class="primary" disabled={answer.busy}>
            Answer
          </button>
        </form>
      ) : null}
      <Problem text={answer.problem} />
    </article>
  );
}
