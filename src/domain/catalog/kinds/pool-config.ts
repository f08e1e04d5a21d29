import { create } from "@bufbuild/protobuf";
import { InputFormat, type PoolConfig, PoolConfigSchema } from "../../../../gen/retinue/v1/catalog_pb.js";
import type { FieldViolation } from "../../fault.js";
import type { Kind } from "../kind.js";
import { describedViolations, found } from "./field-rules.js";

const SLOTS_MAX = 1000;

export const poolConfig: Kind<PoolConfig> = {
  name: "pool-config",
  schema: PoolConfigSchema,
  inputFormat: InputFormat.YAML,
  readScope: "catalog:read",
  writeScope: "catalog:write",
  proposable: true,
  builtins: new Map([
    [
      "default",
      create(PoolConfigSchema, {
        displayName: "Default",
        description: "Eight turns at once, shared by whoever comes first.",
        slots: 8,
      }),
    ],
  ]),
  serverSet: [],
  validate(document) {
    const { slots, slotsPerAccount, slotsPerTree } = document;
    if (slots < 1 || slots > SLOTS_MAX) {
      const description = `must be from 1 to ${SLOTS_MAX}, is ${slots}`;
      return [...describedViolations(document), { field: "slots", description }];
    }
    return [
      ...describedViolations(document),
      ...found(
        shareViolation("slotsPerAccount", slotsPerAccount, slots),
        shareViolation("slotsPerTree", slotsPerTree, slots),
      ),
    ];
  },
};

function shareViolation(field: string, share: number, slots: number): FieldViolation | undefined {
  if (share >= 0 && share <= slots) return undefined;
  return {
    field,
    description: `must be from 0 (no limit of its own) to slots, which is ${slots}; is ${share}`,
  };
}
