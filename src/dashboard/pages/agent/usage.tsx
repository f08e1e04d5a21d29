import { useEffect, useState } from "preact/hooks";
import type { AgentStatus, LastTurn } from "../../../../gen/retinue/v1/agent_pb.js";
import { EventType } from "../../../../gen/retinue/v1/event_pb.js";
import { Section } from "../../parts/section.js";
import type { AgentView } from "../../state/agent-view.js";
import { timeline } from "../../state/api.js";
import { OUTCOMES } from "../../text/conversation.js";
import { count, duration, money, msOf } from "../../text/format.js";

/** Bars that fit the panel; older runs are in the table. */
const BARS = 40;

/** What each run used, by the log. */
export function UsageByRun({ view, status }: { view: AgentView; status: AgentStatus }) {
  const [turns, setTurns] = useState<readonly LastTurn[]>([]);
  const ended = String(status.lastTurn?.runId ?? 0n);
  useEffect(() => {
    if (ended === "0" || view.withoutLog.value) return;
    endedTurns(view).then(setTurns, () => {});
  }, [view, ended]);
  return (
    <Section title="Usage" extra={`${money(status.cost)} · ${count(status.totalTokens)} tokens`}>
      <p class="dim">
        {count(status.inputTokens)} in · {count(status.cachedInputTokens)} cached ·{" "}
        {count(status.outputTokens)} out
      </p>
      {turns.length > 0 ? <Bars turns={turns.slice(-BARS)} /> : null}
      {turns.length > 0 ? <RunTable turns={turns} /> : null}
    </Section>
  );
}

async function endedTurns(view: AgentView): Promise<LastTurn[]> {
  const turns: LastTurn[] = [];
  for (let afterSeq = 0n; ; ) {
    const types = [EventType.TURN_ENDED];
    const page = await timeline.listEvents({ agentId: view.agentId, afterSeq, types, pageSize: 200 });
    for (const { payload } of page.events)
      if (payload?.kind.case === "turnEnded") turns.push(payload.kind.value);
    afterSeq = page.events.at(-1)?.seq ?? afterSeq;
    if (!page.hasMore) return turns;
  }
}

const tokensOf = (turn: LastTurn) => Number(turn.usage?.totalTokens ?? 0n);
const costOf = (turn: LastTurn) => turn.usage?.cost ?? 0;

/** Cost over runs as bars, tokens as the line of dots above them. */
function Bars({ turns }: { turns: readonly LastTurn[] }) {
  const [width, height] = [300, 56];
  const step = width / Math.max(turns.length, 8);
  const mostCost = Math.max(...turns.map(costOf), Number.MIN_VALUE);
  const mostTokens = Math.max(...turns.map(tokensOf), 1);
  return (
    <figure class="bars">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="xMinYMid"
        role="img"
        aria-label="Cost and tokens by run"
      >
        {turns.map((turn, i) => {
          const tall = (costOf(turn) / mostCost) * (height - 6);
          const y = height - 3 - (tokensOf(turn) / mostTokens) * (height - 8);
          return (
            <g key={String(turn.runId)}>
              <title>{`Run ${turn.runId}: ${money(costOf(turn))}, ${count(tokensOf(turn))} tokens`}</title>
              <rect x={i * step + 1} y={height - tall} width={step - 2} height={tall} rx="1.5" />
              <circle cx={i * step + step / 2} cy={y} r="2.2" />
            </g>
          );
        })}
      </svg>
      <figcaption class="dim">
        <span class="swatch cost" /> cost, at most {money(Math.max(...turns.map(costOf)))}{" "}
        <span class="swatch tokens" /> tokens, at most {count(Math.max(...turns.map(tokensOf)))}
      </figcaption>
    </figure>
  );
}

function RunTable({ turns }: { turns: readonly LastTurn[] }) {
  return (
    <details class="runs">
      <summary>By run</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Ended</th>
            <th scope="col" class="number">
              Took
            </th>
            <th scope="col" class="number">
              In
            </th>
            <th scope="col" class="number">
              Cached
            </th>
            <th scope="col" class="number">
              Out
            </th>
            <th scope="col" class="number">
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          {turns.toReversed().map(({ runId, outcome, usage, startedAt, endedAt }) => (
            <tr key={String(runId)}>
              <td>{String(runId)}</td>
              <td>{OUTCOMES[outcome]}</td>
              <td class="number">{duration((msOf(endedAt) ?? 0) - (msOf(startedAt) ?? 0))}</td>
              <td class="number">{count(usage?.inputTokens ?? 0n)}</td>
              <td class="number">{count(usage?.cachedInputTokens ?? 0n)}</td>
              <td class="number">{count(usage?.outputTokens ?? 0n)}</td>
              <td class="number">{money(usage?.cost ?? 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
