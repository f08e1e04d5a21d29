import { toJson } from "@bufbuild/protobuf";
import { EventSchema, EventType } from "../../../gen/retinue/v1/event_pb.js";
import { timestampText } from "../../domain/catalog/document.js";
import type { AgentRow, EventRow } from "../../storage/agent-rows.js";
import { listedAgentOf } from "../agents/rows.js";
import { eventMessage } from "../agents/watch.js";

/** What is posted for an event: `{"type": "turn_ended", "timestamp": …, "data": <Event as ProtoJSON>}`. */
export function webhookBody(row: AgentRow, event: EventRow): string {
  return JSON.stringify({
    type: EventType[event.type]?.toLowerCase(),
    timestamp: timestampText(event.atMs),
    data: toJson(EventSchema, eventMessage(event, listedAgentOf(row).key)),
  });
}
