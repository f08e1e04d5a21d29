import {
  InputFormat,
  NetworkAccess,
  Sandbox,
  type VmProfile,
  VmProfileSchema,
} from "../../../../gen/retinue/v1/catalog_pb.js";
import type { FieldViolation } from "../../fault.js";
import type { Kind } from "../kind.js";
import { describedViolations, found } from "./field-rules.js";

/** Less, and no agent program starts; more, and somebody has counted bytes. */
const MEMORY_MIB = [64, 4 * 1024 * 1024] as const;
const PROCESSES = [8, 100_000] as const;

export const vmProfile: Kind<VmProfile> = {
  name: "vm-profile",
  schema: VmProfileSchema,
  inputFormat: InputFormat.YAML,
  readScope: "catalog:read",
  writeScope: "catalog:write",
  proposable: true,
  builtins: new Map(),
  serverSet: [],
  validate: (document) => [
    ...describedViolations(document),
    ...found(
      networkViolation(document),
      limitViolation("memoryMib", Number(document.memoryMib), MEMORY_MIB),
      limitViolation("maxProcesses", document.maxProcesses, PROCESSES),
    ),
  ],
};

/** Without a sandbox nothing stands between a process and the network. */
function networkViolation({ network, sandbox }: VmProfile): FieldViolation | undefined {
  if (network !== NetworkAccess.MODEL_ONLY || sandbox === Sandbox.BWRAP) return undefined;
  return { field: "network", description: "NETWORK_ACCESS_MODEL_ONLY needs the sandbox SANDBOX_BWRAP" };
}

function limitViolation(
  field: string,
  value: number,
  [least, most]: readonly [number, number],
): FieldViolation | undefined {
  if (value === 0 || (value >= least && value <= most)) return undefined;
  return { field, description: `must be from ${least} to ${most}, or 0 for no limit; is ${value}` };
}
