import { clone } from "@bufbuild/protobuf";
import { Provider } from "../../../../gen/retinue/v1/agent_id_pb.js";
import {
  InputFormat,
  type Schedule,
  type ScheduleMessage,
  ScheduleSchema,
  type ScheduleSpawn,
} from "../../../../gen/retinue/v1/catalog_pb.js";
import { actorOf, providerName, requireScope } from "../../caller.js";
import type { FieldViolation } from "../../fault.js";
import { nameViolation } from "../../name.js";
import type { Kind, KindWrite, Settled } from "../kind.js";
import { cronViolation, timeZoneViolation } from "./cron.js";
import {
  bytesViolation,
  describedViolations,
  found,
  optionalNameViolation,
  violation,
} from "./field-rules.js";
import { namedDocument } from "./named-document.js";
import { requireCallerOf, serviceProfile } from "./service-profile.js";
import { settingViolations } from "./setting-defaults.js";

/** What a message of a caller may have at most. */
const TEXT_MAX_BYTES = 256 * 1024;
const LABELS_MAX = 16;

export const schedule: Kind<Schedule> = {
  name: "schedule",
  schema: ScheduleSchema,
  inputFormat: InputFormat.YAML,
  readScope: "catalog:read",
  writeScope: "catalog:write",
  proposable: true,
  builtins: new Map(),
  serverSet: ["actsAs"],
  references: ({ action, serviceProfile }) => [
    ...(action.case === "spawn"
      ? [
          ...namedDocument("spawn.workspace", "workspace", action.value.workspace),
          ...namedDocument("spawn.agent", "persona", action.value.agent),
          ...namedDocument("spawn.environment", "environment", action.value.environment),
        ]
      : []),
    ...namedDocument("serviceProfile", "service-profile", serviceProfile),
  ],
  validate: (document) => [
    ...describedViolations(document),
    ...found(
      violation("cron", cronViolation(document.cron)),
      violation("timeZone", timeZoneViolation(document.timeZone)),
      optionalNameViolation("serviceProfile", document.serviceProfile),
    ),
    ...actionViolations(document.action),
  ],
  settle: settleSchedule,
};

function actionViolations(action: Schedule["action"]): FieldViolation[] {
  if (action.case === "spawn") return spawnViolations(action.value);
  if (action.case === "message") return messageViolations(action.value);
  return [{ field: "spawn", description: "set exactly one of spawn and message" }];
}

function spawnViolations(spawn: ScheduleSpawn): FieldViolation[] {
  const labels = Object.keys(spawn.labels).length;
  return [
    ...found(
      textViolation("spawn.description", spawn.description),
      optionalNameViolation("spawn.workspace", spawn.workspace),
      optionalNameViolation("spawn.agent", spawn.agent),
      optionalNameViolation("spawn.environment", spawn.environment),
      labels > LABELS_MAX
        ? { field: "spawn.labels", description: `at most ${LABELS_MAX}, these are ${labels}` }
        : undefined,
    ),
    ...settingViolations(spawn.settings).map((found) => ({ ...found, field: `spawn.${found.field}` })),
  ];
}

function messageViolations({ agentId, description }: ScheduleMessage): FieldViolation[] {
  const path = agentId?.agent ?? [];
  return found(
    textViolation("message.description", description),
    path.length === 0
      ? { field: "message.agentId.agent", description: "required: the path of the agent" }
      : undefined,
    ...path.map((element, index) => nameViolation(`message.agentId.agent[${index}]`, element)),
  );
}

function textViolation(field: string, text: string): FieldViolation | undefined {
  if (text.trim() === "") return { field, description: "required: what the agent is told" };
  return bytesViolation(field, text, TEXT_MAX_BYTES);
}

/** A schedule does what its writer could do, as its writer or as a service profile of theirs. */
function settleSchedule({ document: sent, caller, find }: KindWrite<Schedule>): Settled<Schedule> {
  if (sent.serviceProfile !== "") {
    requireCallerOf(caller, sent.serviceProfile, find(serviceProfile, sent.serviceProfile));
  }
  requireScope(caller, sent.action.case === "spawn" ? "agents:spawn" : "agents:message");
  const document = clone(ScheduleSchema, sent);
  document.actsAs =
    sent.serviceProfile === ""
      ? actorOf(caller)
      : `${providerName(Provider.SERVICE_PROFILE)}/${sent.serviceProfile}`;
  return { document };
}
