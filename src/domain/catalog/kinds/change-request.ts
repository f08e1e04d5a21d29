import {
  type ChangeRequest,
  ChangeRequestSchema,
  InputFormat,
} from "../../../../gen/retinue/v1/catalog_pb.js";
import type { Kind } from "../kind.js";

export const changeRequest: Kind<ChangeRequest> = {
  name: "change-request",
  schema: ChangeRequestSchema,
  inputFormat: InputFormat.YAML,
  readScope: "catalog:read",
  writeScope: "catalog:write",
  proposable: false,
  notWritable:
    "change requests are not written directly: one comes to be when a caller who may propose but not write " +
    "(scope catalog:propose) writes a document of another kind, and is decided with ApproveChangeRequest " +
    "or RejectChangeRequest",
  builtins: new Map(),
  // Every field is the server's; since no caller gets as far as a write, there is nothing to strip or check.
  serverSet: [],
  validate: () => [],
};
