import { durationFromMs, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { AgentId } from "../../../gen/retinue/v1/agent_id_pb.js";
import { IdlePolicy } from "../../../gen/retinue/v1/agent_pb.js";
import { useAction } from "../parts/action.js";
import { AreaField, SelectField, TextField } from "../parts/field.js";
import { Problem, tellError } from "../parts/notice.js";
import { NO_SETTINGS, SettingFields, settingsOf } from "../parts/setting-fields.js";
import { type TaskDraft, TaskFields, tasksOf } from "../parts/task-fields.js";
import { refreshList } from "../state/agent-list.js";
import { agents } from "../state/api.js";
import { namesOf } from "../state/catalog-names.js";
import { go, hrefOf, query } from "../state/route.js";
import { labelsOf } from "../text/labels.js";

const TEXTS = {
  name: "",
  workspace: "",
  description: "",
  expectedOutput: "",
  environment: "",
  labels: "",
  startAt: "",
  idlePolicy: "",
  maxCostUsd: "",
  maxTokens: "",
  maxTurns: "",
  maxMinutes: "",
};

/** Starts an agent with everything that one can be started with. */
export function SpawnPage() {
  const form = useSignal(TEXTS);
  const settings = useSignal(NO_SETTINGS);
  const tasks = useSignal<readonly TaskDraft[]>([]);
  const parent = useParent();
  // The same form sent twice, on a slow line, starts one agent.
  const requestId = useSignal(crypto.randomUUID());
  const changed = () => {
    requestId.value = crypto.randomUUID();
  };
  const set = (name: keyof typeof TEXTS) => (value: string) => {
    form.value = { ...form.value, [name]: value };
    changed();
  };
  const spawn = useAction(async () => {
    const { name, workspace, description, expectedOutput, environment, labels, startAt, idlePolicy } =
      form.value;
    const above = parent.value;
    const path = [...(above?.agent ?? []), ...(name.trim() === "" ? [] : [name.trim()])];
    const { agentId } = await agents.spawnAgent({
      agentId: { ...(above ?? { workspace: workspace.trim() }), agent: path, uid: "" },
      description,
      expectedOutput,
      environment: environment.trim(),
      labels: labelsOf(labels),
      ...(startAt === "" ? {} : { startAt: timestampFromDate(new Date(startAt)) }),
      idlePolicy: IDLE[idlePolicy] ?? IdlePolicy.UNSPECIFIED,
      ...budgetOf(form.value),
      tasks: tasksOf(tasks.value),
      requestId: requestId.value,
      ...settingsOf(settings.value),
    });
    refreshList();
    go(hrefOf("agents", agentId?.uid ?? ""));
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void spawn.run();
  };
  const below = parent.value?.agent.join("/");

  return (
    <section class="page" aria-labelledby="spawn-title">
      <header class="bar">
        <h1 id="spawn-title">{below === undefined ? "Spawn an agent" : `Spawn a child of ${below}`}</h1>
      </header>
      <form class="sheet" onSubmit={submit}>
        <AreaField
          label="What is to be done"
          value={form.value.description}
          onChange={set("description")}
          rows={6}
          required
        />
        <div class="columns">
          <TextField
            label="Name"
            value={form.value.name}
            onChange={set("name")}
            placeholder={below === undefined ? "chosen by the server" : ""}
            required={below !== undefined}
            hint="Lower case, digits, and . _ - inside."
            mono
          />
          {below === undefined ? (
            <TextField
              label="Workspace"
              value={form.value.workspace}
              onChange={set("workspace")}
              options={namesOf("workspace").value}
              placeholder="the default one"
            />
          ) : null}
          <TextField
            label="Wanted result"
            value={form.value.expectedOutput}
            onChange={set("expectedOutput")}
            hint="In words."
          />
        </div>
        <TaskFields
          value={tasks.value}
          onChange={(value) => {
            tasks.value = value;
            changed();
          }}
        />
        <details class="options">
          <summary>Settings, budget and more</summary>
          <div class="more">
            <SettingFields
              value={settings.value}
              onChange={(value) => {
                settings.value = value;
                changed();
              }}
              empty="default"
            />
            <div class="columns">
              <TextField
                label="Environment"
                value={form.value.environment}
                onChange={set("environment")}
                options={namesOf("environment").value}
                placeholder="the workspace's"
              />
              <TextField
                label="Labels"
                value={form.value.labels}
                onChange={set("labels")}
                placeholder="team=garden stage=test"
              />
              <TextField
                label="Start at"
                type="datetime-local"
                value={form.value.startAt}
                onChange={set("startAt")}
              />
              <SelectField
                label="When a turn ends plainly"
                value={form.value.idlePolicy}
                onChange={set("idlePolicy")}
                options={[
                  ["", "default"],
                  ["rest", "wait for input"],
                  ["complete", "complete"],
                ]}
              />
            </div>
            <fieldset>
              <legend>Budget, with everything below it</legend>
              <div class="columns">
                <TextField
                  label="US dollars"
                  type="number"
                  step="any"
                  value={form.value.maxCostUsd}
                  onChange={set("maxCostUsd")}
                />
                <TextField
                  label="Tokens"
                  type="number"
                  value={form.value.maxTokens}
                  onChange={set("maxTokens")}
                />
                <TextField
                  label="Turns"
                  type="number"
                  value={form.value.maxTurns}
                  onChange={set("maxTurns")}
                />
                <TextField
                  label="Minutes"
                  type="number"
                  value={form.value.maxMinutes}
                  onChange={set("maxMinutes")}
                />
              </div>
            </fieldset>
          </div>
        </details>
        <Problem text={spawn.problem} />
        <footer>
          <a class="button" href={hrefOf("agents")}>
            Cancel
          </a>
          <button type="submit" class="primary" disabled={spawn.busy}>
            Spawn
          </button>
        </footer>
      </form>
    </section>
  );
}

const IDLE: Readonly<Record<string, IdlePolicy>> = { rest: IdlePolicy.REST, complete: IdlePolicy.COMPLETE };

function budgetOf({ maxCostUsd, maxTokens, maxTurns, maxMinutes }: typeof TEXTS) {
  const budget = {
    ...(maxCostUsd === "" ? {} : { maxCostUsd: Number(maxCostUsd) }),
    ...(maxTokens === "" ? {} : { maxTokens: BigInt(maxTokens) }),
    ...(maxTurns === "" ? {} : { maxTurns: BigInt(maxTurns) }),
    ...(maxMinutes === "" ? {} : { maxWallTime: durationFromMs(Number(maxMinutes) * 60_000) }),
  };
  return Object.keys(budget).length === 0 ? {} : { budget };
}

/** The agent that `?below=` names. */
function useParent() {
  const parent = useSignal<AgentId | undefined>(undefined);
  const uid = query.value.get("below") ?? "";
  useEffect(() => {
    parent.value = undefined;
    if (uid === "") return;
    agents.getAgentStatus({ agentId: { uid } }).then(({ status }) => {
      parent.value = status?.agentId;
    }, tellError);
  }, [uid, parent]);
  return parent;
}
