import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useSignal } from "@preact/signals";
import { type AgentStatus, Phase } from "../../../../gen/retinue/v1/agent_pb.js";
import { useAction } from "../../parts/action.js";
import { SelectField, TextField } from "../../parts/field.js";
import { Icon } from "../../parts/icon.js";
import { Problem, tell } from "../../parts/notice.js";
import { NO_SETTINGS, SettingFields, settingsOf } from "../../parts/setting-fields.js";
import { type TaskDraft, TaskFields, tasksOf } from "../../parts/task-fields.js";
import { refreshList } from "../../state/agent-list.js";
import type { AgentView } from "../../state/agent-view.js";
import { agents } from "../../state/api.js";
import { may } from "../../state/session.js";
import { duration } from "../../text/format.js";
import { localInput, parseDelay } from "../../text/local-time.js";

type When = "next" | "preempt" | "later";

/** A follow-up with everything that one can have. */
export function Composer({ view, status }: { view: AgentView; status: AgentStatus }) {
  const text = useSignal("");
  const when = useSignal<When>("next");
  const at = useSignal("");
  const followUpId = useSignal("");
  const settings = useSignal(NO_SETTINGS);
  const tasks = useSignal<readonly TaskDraft[]>([]);

  const send = useAction(async () => {
    const deliverAt = when.value === "later" ? new Date(at.value) : undefined;
    const receipt = await agents.queueFollowUp({
      agentId: view.agentId,
      description: text.value,
      tasks: tasksOf(tasks.value),
      followUpId: followUpId.value.trim(),
      preempt: when.value === "preempt",
      ...(deliverAt && { deliverAt: timestampFromDate(deliverAt) }),
      ...settingsOf(settings.value),
    });
    if (receipt.interruptedRunId > 0n) tell(`Run ${receipt.interruptedRunId} is interrupted for it.`);
    else if (deliverAt)
      tell(`Deferred: it joins the queue in ${duration(deliverAt.getTime() - Date.now())}.`);
    else if (receipt.position > 1) tell(`Queued at place ${receipt.position}.`);
    text.value = "";
    when.value = "next";
    followUpId.value = "";
    settings.value = NO_SETTINGS;
    tasks.value = [];
    refreshList();
    await view.refresh();
  });
  const submit = (event: Event) => {
    event.preventDefault();
    void send.run();
  };
  const asks = status.phase === Phase.WAITING_FOR_INPUT && status.needsInput !== "";

  return (
    <form class="composer" onSubmit={submit} aria-label="Follow-up">
      <Problem text={send.problem} />
      <textarea
        aria-label={asks ? "Your answer" : "Follow-up message"}
        placeholder={asks ? `Answer: ${status.needsInput}` : "Send a follow-up …"}
        rows={2}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
        }}
      />
      <div class="send-row">
        <details class="options">
          <summary>Options</summary>
          <div class="options-body">
            <Delivery when={when} at={at} />
            <SettingFields
              value={settings.value}
              onChange={(value) => {
                settings.value = value;
              }}
              empty="unchanged"
            />
            <TaskFields
              value={tasks.value}
              onChange={(value) => {
                tasks.value = value;
              }}
            />
            <TextField
              label="Follow-up ID"
              value={followUpId.value}
              onChange={(value) => {
                followUpId.value = value;
              }}
              hint="Makes a second send of the same message harmless."
              mono
            />
          </div>
        </details>
        {when.value === "next" ? null : (
          <span class="tag">{when.value === "later" ? "deferred" : "preempts"}</span>
        )}
        <button type="submit" class="primary" disabled={send.busy}>
          <Icon name="send" />
          {asks ? "Answer" : "Send"}
        </button>
      </div>
    </form>
  );
}

interface DeliveryProps {
  when: { value: When };
  at: { value: string };
}

const DELAYS = ["10m", "1h", "8h", "1d"] as const;

function Delivery({ when, at }: DeliveryProps) {
  const choices: [When, string][] = [
    ["next", "Next in line"],
    ["later", "Later"],
  ];
  if (may("agents:interrupt")) choices.push(["preempt", "Now: interrupt and discard the queue"]);
  return (
    <div class="columns">
      <SelectField
        label="Delivery"
        value={when.value}
        onChange={(value) => {
          when.value = value as When;
          if (value === "later" && at.value === "") at.value = localInput(parseDelay("1h"));
        }}
        options={choices}
      />
      {when.value === "later" ? (
        <div>
          <TextField
            label="Deliver at"
            type="datetime-local"
            step="1"
            value={at.value}
            onChange={(value) => {
              at.value = value;
            }}
            required
          />
          <p class="delays">
            {DELAYS.map((delay) => (
              <button
                key={delay}
                type="button"
                class="link"
                onClick={() => {
                  at.value = localInput(parseDelay(delay));
                }}
              >
                in {delay}
              </button>
            ))}
          </p>
        </div>
      ) : null}
    </div>
  );
}
