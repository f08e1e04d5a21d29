import {
  create,
  createFileRegistry,
  type DescMessage,
  type DescMethod,
  type MessageInitShape,
  setExtension,
} from "@bufbuild/protobuf";
import {
  type DescriptorProtoSchema,
  type FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  file_google_protobuf_duration,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
  FieldDescriptorProto_Label as Label,
  MethodOptionsSchema,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { http } from "../../../gen/google/api/annotations_pb.js";
import { HttpRuleSchema } from "../../../gen/google/api/http_pb.js";
import { AccessSchema } from "../../../gen/retinue/v1/access_pb.js";
import type { Rpc } from "../../../src/transport/rpc.js";

type Field = MessageInitShape<typeof FieldDescriptorProtoSchema>;
export type HttpRuleInit = MessageInitShape<typeof HttpRuleSchema>;

const imports = [
  file_google_protobuf_duration,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
];

let number = 0;

function field(name: string, type: Type, more: Field = {}): Field {
  number += 1;
  const jsonName = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return { name, jsonName, number, type, label: Label.OPTIONAL, ...more };
}

function message(name: string, typeName: string, more: Field = {}): Field {
  return field(name, Type.MESSAGE, { typeName: `.${typeName}`, ...more });
}

const repeated = { label: Label.REPEATED };
const color = { typeName: ".probe.Color" };

/** One field of every sort that a request can have. */
const PROBE: MessageInitShape<typeof DescriptorProtoSchema> = {
  name: "Probe",
  field: [
    field("name", Type.STRING),
    field("big", Type.INT64),
    field("small", Type.INT32),
    field("unsigned", Type.UINT64),
    field("color", Type.ENUM, color),
    field("colors", Type.ENUM, { ...color, ...repeated }),
    field("tags", Type.STRING, repeated),
    field("flag", Type.BOOL),
    field("maybe", Type.INT64, { proto3Optional: true, oneofIndex: 1 }),
    field("ratio", Type.DOUBLE),
    field("narrow", Type.FLOAT),
    field("data", Type.BYTES),
    message("at", "google.protobuf.Timestamp"),
    message("lasting", "google.protobuf.Duration"),
    message("mask", "google.protobuf.FieldMask"),
    message("inner", "probe.Inner"),
    message("inners", "probe.Inner", repeated),
    message("labels", "probe.Probe.LabelsEntry", repeated),
    field("left_hand", Type.STRING, { oneofIndex: 0 }),
    message("right_hand", "probe.Inner", { oneofIndex: 0 }),
    message("anything", "google.protobuf.Value"),
    message("self", "probe.Probe"),
  ],
  nestedType: [
    {
      name: "LabelsEntry",
      field: [
        { ...field("key", Type.STRING), number: 1 },
        { ...field("value", Type.STRING), number: 2 },
      ],
      options: { mapEntry: true },
    },
  ],
  oneofDecl: [{ name: "hand" }, { name: "_maybe" }],
};

/** Fields that protobuf-es stores in some special way. */
const SPECIAL: MessageInitShape<typeof DescriptorProtoSchema> = {
  name: "Special",
  field: [
    field("name", Type.STRING),
    message("wrapped", "google.protobuf.StringValue"),
    message("struct", "google.protobuf.Struct"),
  ],
};

const INNER: MessageInitShape<typeof DescriptorProtoSchema> = {
  name: "Inner",
  field: [field("text", Type.STRING), field("count", Type.INT64), field("color", Type.ENUM, color)],
};

const registry = createFileRegistry(
  create(FileDescriptorProtoSchema, {
    name: "probe.proto",
    package: "probe",
    syntax: "proto3",
    dependency: imports.map((file) => file.proto.name),
    messageType: [PROBE, INNER, SPECIAL],
    enumType: [
      {
        name: "Color",
        value: [
          { name: "COLOR_UNSPECIFIED", number: 0 },
          { name: "COLOR_RED", number: 1 },
        ],
      },
    ],
  }),
  (name) => imports.find((file) => file.proto.name === name),
);

export const ProbeSchema = registry.getMessage("probe.Probe") as DescMessage;
export const SpecialSchema = registry.getMessage("probe.Special") as DescMessage;

let services = 0;

/** An RPC that takes and answers a Probe, under the rule. */
export function probeRpc(name: string, rule: HttpRuleInit): Rpc {
  const options = create(MethodOptionsSchema);
  setExtension(options, http, create(HttpRuleSchema, rule));
  services += 1;
  const file = create(FileDescriptorProtoSchema, {
    name: `probe_service_${services}.proto`,
    package: "probe",
    syntax: "proto3",
    dependency: ["probe.proto"],
    service: [
      {
        name: "ProbeService",
        method: [{ name, inputType: ".probe.Probe", outputType: ".probe.Probe", options }],
      },
    ],
  });
  const method = createFileRegistry(file, () => ProbeSchema.file).getService("probe.ProbeService")
    ?.methods[0];
  return {
    method: method as DescMethod,
    path: `/probe.ProbeService/${name}`,
    action: `ProbeService/${name}`,
    access: create(AccessSchema, { rule: { case: "anyKey", value: true } }),
    handler: async (request) => request,
  };
}
