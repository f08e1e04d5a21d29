import { namesOf } from "../state/catalog-names.js";
import { AreaField, SelectField, TextField } from "./field.js";

/** Settings as people fill them in; empty leaves a setting as it is. */
export interface SettingsDraft {
  readonly agent: string;
  readonly model: string;
  readonly reasoningEffort: string;
  readonly serviceTier: string;
  readonly fastMode: string;
  readonly outputSchema: string;
}

export const NO_SETTINGS: SettingsDraft = {
  agent: "",
  model: "",
  reasoningEffort: "",
  serviceTier: "",
  fastMode: "",
  outputSchema: "",
};

const EFFORTS = ["none", "low", "medium", "high", "xhigh", "max"];
const TIERS = ["standard", "fast", "flex"];

interface SettingFieldsProps {
  value: SettingsDraft;
  onChange: (value: SettingsDraft) => void;
  /** What an empty field means. */
  empty: string;
}

export function SettingFields({ value, onChange, empty }: SettingFieldsProps) {
  const set = (name: keyof SettingsDraft) => (text: string) => onChange({ ...value, [name]: text });
  const choices = (values: readonly string[]) =>
    [["", empty], ...values.map((text) => [text, text] as const)] as const;
  return (
    <>
      <div class="columns">
        <TextField
          label="Persona"
          value={value.agent}
          onChange={set("agent")}
          options={namesOf("persona").value}
          placeholder={empty}
        />
        <TextField
          label="Model"
          value={value.model}
          onChange={set("model")}
          options={namesOf("model").value}
          placeholder={empty}
        />
        <SelectField
          label="Effort"
          value={value.reasoningEffort}
          onChange={set("reasoningEffort")}
          options={choices(EFFORTS)}
        />
        <SelectField
          label="Tier"
          value={value.serviceTier}
          onChange={set("serviceTier")}
          options={choices(TIERS)}
        />
        <SelectField
          label="Fast mode"
          value={value.fastMode}
          onChange={set("fastMode")}
          options={[
            ["", empty],
            ["on", "on"],
            ["off", "off"],
          ]}
        />
      </div>
      <AreaField
        label="Output schema"
        value={value.outputSchema}
        onChange={set("outputSchema")}
        hint="JSON Schema that the structured result must fit."
        rows={2}
        mono
      />
    </>
  );
}

/** As requests have it: fast mode absent unless somebody chose. */
export function settingsOf({ fastMode, ...texts }: SettingsDraft) {
  return fastMode === "" ? texts : { ...texts, fastMode: fastMode === "on" };
}
