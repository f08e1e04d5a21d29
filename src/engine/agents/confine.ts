import { NetworkAccess, Sandbox, type VmProfile } from "../../../gen/retinue/v1/catalog_pb.js";
import type { Runtime } from "../../domain/agent/agent.js";
import { type Confinement, confinementText, requireNotWeaker } from "../../domain/agent/confinement.js";
import { failedPrecondition } from "../../domain/fault.js";
import type { Runner } from "../../runner/runner.js";

/** What a new agent will run in: as its profile says, else as its parent, else as the server is set up. */
export function confine(
  runner: Runner,
  profile: VmProfile | undefined,
  profileName: string,
  parent: Runtime | undefined,
): Confinement {
  const byDefault: Confinement = {
    sandbox: runner.isolation,
    network: "full",
    memoryMib: 0,
    maxProcesses: 0,
  };
  const above = parent && (parent.confinement ?? byDefault);
  const asked = profile === undefined ? (above ?? byDefault) : profiled(profile, byDefault);
  const problem = runner.problem(asked);
  if (problem !== undefined) {
    const text = `vm-profile ${profileName || "of the parent"} (${confinementText(asked)}): ${problem}`;
    throw failedPrecondition("ISOLATION_UNAVAILABLE", profileName, text);
  }
  if (above) requireNotWeaker(asked, above);
  return asked;
}

function profiled(
  { sandbox, network, memoryMib, maxProcesses }: VmProfile,
  byDefault: Confinement,
): Confinement {
  const sandboxes = {
    [Sandbox.UNSPECIFIED]: byDefault.sandbox,
    [Sandbox.NONE]: "none",
    [Sandbox.BWRAP]: "bwrap",
  } as const;
  return {
    sandbox: sandboxes[sandbox],
    network: network === NetworkAccess.MODEL_ONLY ? "model-only" : "full",
    memoryMib: Number(memoryMib),
    maxProcesses,
  };
}
