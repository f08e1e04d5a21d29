import type { AgentStatus } from "../../../../gen/retinue/v1/agent_pb.js";
import { type FollowUp, FollowUpState } from "../../../../gen/retinue/v1/follow_up_pb.js";
import { Icon } from "../../parts/icon.js";
import { tell, tellError } from "../../parts/notice.js";
import { Section } from "../../parts/section.js";
import { Ago, Countdown } from "../../parts/time.js";
import type { AgentView } from "../../state/agent-view.js";
import { agents } from "../../state/api.js";
import { may } from "../../state/session.js";
import { msOf, plural } from "../../text/format.js";

/** What waits to be said to it, in the order in which it will be. */
export function Queue({ view, status }: { view: AgentView; status: AgentStatus }) {
  const { followUps } = status;
  const queued = followUps.filter(({ state }) => state === FollowUpState.QUEUED);
  const clear = async () => {
    const { cleared } = await agents.clearFollowUps({ agentId: view.agentId });
    tell(`Discarded ${plural(cleared, "message")}.`);
    await view.refresh();
  };
  const remove = async ({ followUpId }: FollowUp) => {
    const { removed } = await agents.removeFollowUp({ agentId: view.agentId, followUpId });
    tell(removed ? "Taken back." : "Too late: it has been delivered.", removed ? "good" : "bad");
    await view.refresh();
  };
  return (
    <Section title="Queue" extra={followUps.length === 0 ? undefined : followUps.length}>
      {followUps.length === 0 ? <p class="dim">Nothing waits.</p> : null}
      <ol class="queue">
        {followUps.map((followUp) => (
          <li key={followUp.followUpId}>
            <p class="plain-text">{followUp.description || "(only tasks)"}</p>
            <p class="dim">
              {followUp.state === FollowUpState.DEFERRED ? (
                <span class="deferred">
                  <Icon name="clock" /> <Countdown ms={msOf(followUp.deliverAt) ?? 0} />
                </span>
              ) : (
                <span>#{followUp.position}</span>
              )}
              <span>{followUp.sender.split("/").at(-1)}</span>
              <Ago ms={msOf(followUp.queuedAt)} />
              {may("agents:message") ? (
                <button type="button" class="link" onClick={() => remove(followUp).catch(tellError)}>
                  Take back
                </button>
              ) : null}
            </p>
          </li>
        ))}
      </ol>
      {queued.length > 0 && may("agents:message") ? (
        <button type="button" class="link" onClick={() => clear().catch(tellError)}>
          Discard all that is queued
        </button>
      ) : null}
    </Section>
  );
}
