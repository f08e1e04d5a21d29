import type { AgentStatus } from "../../../../gen/retinue/v1/agent_pb.js";
import type { AgentView } from "../../state/agent-view.js";
import { About } from "./about.js";
import { Checklist } from "./checklist.js";
import { Children } from "./children.js";
import { Outcome } from "./outcome.js";
import { Queue } from "./queue.js";
import { SettingsTable } from "./settings.js";
import { UsageByRun } from "./usage.js";

/** What there is to know beside the conversation. */
export function Details({ view, status }: { view: AgentView; status: AgentStatus }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by keyboard too
    <aside class="details" aria-label="Details" tabIndex={0}>
      <Outcome status={status} />
      <Checklist view={view} tasks={status.tasks} />
      <Queue view={view} status={status} />
      <Children view={view} status={status} />
      <UsageByRun view={view} status={status} />
      <SettingsTable status={status} />
      <About status={status} />
    </aside>
  );
}
