import type { AgentStatus } from "../../../../gen/retinue/v1/agent_pb.js";
import { Backend, SettingSource } from "../../../../gen/retinue/v1/settings_pb.js";
import { Section } from "../../parts/section.js";
import { Code } from "../../text/markdown.js";

const SOURCES: Readonly<Record<SettingSource, string>> = {
  [SettingSource.UNSPECIFIED]: "",
  [SettingSource.DEFAULT]: "default",
  [SettingSource.WORKSPACE]: "workspace",
  [SettingSource.PERSONA]: "persona",
  [SettingSource.SPAWN]: "spawn",
  [SettingSource.FOLLOW_UP]: "follow-up",
  [SettingSource.PARENT]: "parent",
};

/** What it runs with, and where each value came from. */
export function SettingsTable({ status }: { status: AgentStatus }) {
  const { settings } = status;
  if (settings === undefined) return null;
  const rows = [
    ["Persona", "agent", settings.agent],
    ["Model", "model", settings.model],
    ["Backend", "backend", Backend[settings.backend] ?? ""],
    ["Effort", "reasoningEffort", settings.reasoningEffort],
    ["Tier", "serviceTier", settings.serviceTier],
    ["Fast mode", "fastMode", settings.fastMode ? "on" : "off"],
    ["Output schema", "outputSchema", settings.outputSchema === "" ? "" : "set"],
  ] as const;
  return (
    <Section title="Settings">
      <table class="facts-table">
        <tbody>
          {rows.map(([label, name, value]) => (
            <tr key={name}>
              <th scope="row">{label}</th>
              <td>{value === "" ? <span class="dim">not set</span> : value}</td>
              <td>
                <Source source={settings.sources[name]} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {settings.outputSchema === "" ? null : (
        <details>
          <summary>Output schema</summary>
          <Code text={settings.outputSchema} label="Output schema" />
        </details>
      )}
    </Section>
  );
}

function Source({ source }: { source: SettingSource | undefined }) {
  const text = SOURCES[source ?? SettingSource.UNSPECIFIED];
  return text === "" ? null : <span class="tag">{text}</span>;
}
