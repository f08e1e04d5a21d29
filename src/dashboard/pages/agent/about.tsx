import type { ComponentChildren } from "preact";
import type { AgentStatus, BudgetLimits } from "../../../../gen/retinue/v1/agent_pb.js";
import { Section } from "../../parts/section.js";
import { OnDate } from "../../parts/time.js";
import { count, money, msOf } from "../../text/format.js";

export function About({ status }: { status: AgentStatus }) {
  const { agentId, runtime, budget, labels, repos } = status;
  const facts: [string, ComponentChildren][] = [
    ["Path", <span class="mono">{agentId?.agent.join("/")}</span>],
    ["Incarnation", <span class="mono">{status.uid}</span>],
    ["Owner", agentId?.account],
    ["Workspace", agentId?.workspace],
    ["Spawned", <OnDate ms={msOf(status.createdAt)} />],
    ["Started", <OnDate ms={msOf(status.startedAt)} />],
    ["Ended", <OnDate ms={msOf(status.endedAt)} />],
    ["With its descendants", money(status.subtreeCost)],
    ["Isolation", runtime?.isolation],
    ["Program", runtime?.build],
    ["Wanted result", status.expectedOutput],
    ["Repositories", repos.join(", ")],
    [
      "Labels",
      Object.entries(labels)
        .map(([name, value]) => `${name}=${value}`)
        .join(", "),
    ],
    ["Budget", budget?.limits && budgetText(budget.limits)],
    ["Spent of it", budget?.spent && budgetText(budget.spent)],
  ];
  return (
    <Section title="About">
      <table class="facts-table">
        <tbody>
          {facts
            .filter(([, value]) => value !== undefined && value !== "")
            .map(([label, value]) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                <td>{value}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </Section>
  );
}

function budgetText({ maxCostUsd, maxTokens, maxTurns, maxWallTime }: BudgetLimits): string {
  return [
    maxCostUsd === undefined ? "" : money(maxCostUsd),
    maxTokens === undefined ? "" : `${count(maxTokens)} tokens`,
    maxTurns === undefined ? "" : `${maxTurns} turns`,
    maxWallTime === undefined ? "" : `${maxWallTime.seconds} s`,
  ]
    .filter(Boolean)
    .join(" · ");
}
