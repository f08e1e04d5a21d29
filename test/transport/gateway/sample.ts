import {
  create,
  createRegistry,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { file_retinue_v1_agent_service } from "../../../gen/retinue/v1/agent_service_pb.js";
import { file_retinue_v1_audit_service } from "../../../gen/retinue/v1/audit_service_pb.js";
import { file_retinue_v1_catalog_service } from "../../../gen/retinue/v1/catalog_service_pb.js";
import { file_retinue_v1_identity_service } from "../../../gen/retinue/v1/identity_service_pb.js";
import { file_retinue_v1_task_service } from "../../../gen/retinue/v1/task_service_pb.js";
import { file_retinue_v1_timeline_service } from "../../../gen/retinue/v1/timeline_service_pb.js";
import { ProbeSchema, SpecialSchema } from "./probe.js";

const files = [
  file_retinue_v1_agent_service,
  file_retinue_v1_audit_service,
  file_retinue_v1_catalog_service,
  file_retinue_v1_identity_service,
  file_retinue_v1_task_service,
  file_retinue_v1_timeline_service,
].flatMap((file) => [file, ...file.dependencies]);

/** Every message of the interface, and two with the sorts of fields that it does not have yet. */
export const ALL_MESSAGES: readonly DescMessage[] = [
  ...new Set([
    ...[...createRegistry(...files)].filter((desc) => desc.kind === "message"),
    ...[ProbeSchema, SpecialSchema],
  ]),
].filter((desc) => /^(retinue|probe)\./.test(desc.typeName));

/** Numbers in [0, 1), the same ones for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}

/** A message with about half of its fields set. */
export function sampleMessage(desc: DescMessage, random: () => number, depth = 0): Message {
  const message = create(desc);
  const target = reflect(desc, message);
  for (const field of desc.fields) {
    if (random() < 0.5 || (field.message && depth > 2)) continue;
    if (field.fieldKind === "list") {
      for (let i = 0; i < 1 + random() * 2; i++)
        target.get(field).add(sampleValue(field, random, depth) as never);
    } else if (field.fieldKind === "map") {
      target.get(field).set(`key ${Math.floor(random() * 9)}`, sampleValue(field, random, depth) as never);
    } else target.set(field, sampleValue(field, random, depth) as never);
  }
  return message;
}

const WELL_KNOWN: Readonly<Record<string, readonly JsonValue[]>> = {
  "google.protobuf.Timestamp": ["2026-11-15T09:30:00Z", "2024-02-29T23:59:59.123456789Z"],
  "google.protobuf.Duration": ["0s", "1.5s", "-3s"],
  "google.protobuf.FieldMask": ["", "subject", "a.bC,d"],
  "google.protobuf.Value": [null, 1, "x", [true, { a: null }]],
  "google.protobuf.Struct": [{}, { a: { b: [1, "2"] } }],
  "google.protobuf.StringValue": ["", "wrapped"],
};

function sampleValue(field: DescField, random: () => number, depth: number): unknown {
  const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  if (field.message) {
    const json = WELL_KNOWN[field.message.typeName];
    const value = json
      ? fromJson(field.message, oneOf(json))
      : sampleMessage(field.message, random, depth + 1);
    return reflect(field.message, value);
  }
  if (field.enum) return oneOf(field.enum.values).number;
  switch (field.scalar) {
    case ScalarType.STRING:
      return oneOf(["", "plain", 'quo"ted \\ \n line', "ünï😀", `${"long ".repeat(20)}\n"`]);
    case ScalarType.BOOL:
      return random() < 0.5;
    case ScalarType.BYTES:
      return oneOf([new Uint8Array(), Uint8Array.of(0, 255, 62), Uint8Array.of(1, 2, 3, 4)]);
    case ScalarType.DOUBLE:
      return oneOf([0, -1.5, 1e300, Number.POSITIVE_INFINITY]);
    case ScalarType.FLOAT:
      return oneOf([0, -1.5]);
    case ScalarType.INT32:
      return oneOf([0, -2147483648, 2147483647]);
    case ScalarType.UINT64:
      return oneOf([0n, 18446744073709551615n]);
    default:
      return oneOf([0n, 7n, -9223372036854775808n, 9223372036854775807n]);
  }
}
