import { useState } from "preact/hooks";
import { type AgentStatus, Phase, TurnState } from "../../../../gen/retinue/v1/agent_pb.js";
import { Icon } from "../../parts/icon.js";
import { PhaseBadge } from "../../parts/phase.js";
import { Countdown, For } from "../../parts/time.js";
import { entries } from "../../state/agent-list.js";
import type { AgentView } from "../../state/agent-view.js";
import { agentHref, hrefOf } from "../../state/route.js";
import { may } from "../../state/session.js";
import { ancestorsOf } from "../../state/tree.js";
import { count, money, msOf } from "../../text/format.js";
import { isAlive } from "../../text/phases.js";
import { KillDialog } from "./kill-dialog.js";
import { ShareDialog } from "./share-dialog.js";
import { StopDialog } from "./stop-dialog.js";

const TURN_STATES: Readonly<Record<TurnState, string>> = {
  [TurnState.UNSPECIFIED]: "",
  [TurnState.STARTING]: "starting",
  [TurnState.RUNNING]: "",
  [TurnState.INTERRUPTING]: "being interrupted",
  [TurnState.RECOVERING]: "recovering",
};

/** A stop names the run that was on the screen when it was asked for, whatever runs by then. */
type Asked = "kill" | "share" | { readonly stop: bigint } | undefined;

/** Who it is, how it is, and what can be done to it. */
export function AgentHeader({ view, status }: { view: AgentView; status: AgentStatus }) {
  const [asked, ask] = useState<Asked>();
  const path = status.agentId?.agent ?? [];
  const close = () => ask(undefined);
  const turn = status.turn;
  return (
    <header class="agent-header">
      <div class="who">
        <h1 id="agent-title">
          <Crumbs path={path} view={view} />
        </h1>
        <p class="facts">
          <PhaseBadge phase={status.phase} />
          <span>
            for <For ms={msOf(status.phaseSince)} />
          </span>
          {turn ? (
            <span>
              run {String(turn.runId)} {TURN_STATES[turn.state]}
            </span>
          ) : null}
          {status.pendingReason === "" ? null : <span>{status.pendingReason}</span>}
          {status.nextWakeAt && status.phase === Phase.SLEEPING ? (
            <span>
              wakes <Countdown ms={msOf(status.nextWakeAt) ?? 0} />
            </span>
          ) : null}
          <span>{money(status.cost)}</span>
          <span>{count(status.totalTokens)} tokens</span>
          <span class="tag">{status.agentId?.account}</span>
          <span class="tag">{status.agentId?.workspace}</span>
        </p>
      </div>
      <div class="actions">
        {may("agents:message") ? (
          <button type="button" onClick={() => ask("share")}>
            <Icon name="share" />
            Share
          </button>
        ) : null}
        {may("agents:spawn") && isAlive(status.phase) ? (
          <a class="button" href={`${hrefOf("spawn")}?below=${encodeURIComponent(view.uid)}`}>
            <Icon name="branch" />
            Child
          </a>
        ) : null}
        {may("agents:interrupt") && turn ? (
          <button type="button" onClick={() => ask({ stop: turn.runId })}>
            <Icon name="stop" />
            Stop run {String(turn.runId)}
          </button>
        ) : null}
        {may("agents:kill") && isAlive(status.phase) ? (
          <button type="button" class="danger" onClick={() => ask("kill")}>
            <Icon name="kill" />
            Kill
          </button>
        ) : null}
      </div>
      {typeof asked === "object" ? <StopDialog view={view} runId={asked.stop} onClose={close} /> : null}
      {asked === "kill" ? <KillDialog view={view} name={path.join("/")} onClose={close} /> : null}
      {asked === "share" ? <ShareDialog view={view} onClose={close} /> : null}
    </header>
  );
}

function Crumbs({ path, view }: { path: readonly string[]; view: AgentView }) {
  const ancestors = ancestorsOf(entries.value, view.uid);
  return (
    <>
      {path.slice(0, -1).map((name, i) => {
        const uid = ancestors[i];
        return (
          <span class="crumb" key={path.slice(0, i + 1).join("/")}>
            {uid === undefined ? name : <a href={agentHref(uid)}>{name}</a>}
            <span aria-hidden="true"> / </span>
          </span>
        );
      })}
      {path.at(-1)}
    </>
  );
}
