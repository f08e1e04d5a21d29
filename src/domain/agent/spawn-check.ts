import { Code } from "../../../gen/google/rpc/code_pb.js";
import { Phase } from "../../../gen/retinue/v1/agent_pb.js";
import { Fault, failedPrecondition, invalidField, notFound, resourceExhausted } from "../fault.js";
import { nameViolation, quoted } from "../name.js";
import type { Agent } from "./agent.js";
import type { Limits } from "./limits.js";
import { isTerminal, phaseName } from "./phase.js";

export interface SpawnPlace {
  readonly path: readonly string[];
  /** The newest incarnation at the path. */
  readonly existing: Pick<Agent, "uid" | "phase"> | undefined;
  /** Whether something below the path lives. */
  readonly descendantLives: boolean;
  /** Undefined for a root, and for a parent that does not exist. */
  readonly parent: Agent | undefined;
  /** Live agents of the tree that the new one joins. */
  readonly liveSubtree: number;
  /** Live agents of its tenant, and others that are being spawned. */
  readonly liveAgents: number;
}

/** Refuses a spawn that has no place; the budget is asked by `childSpawned`. */
export function requireSpawnable(place: SpawnPlace, limits: Limits): void {
  const { path } = place;
  checkPath(path, limits);
  if (path.length > 1) requireParent(place, limits);
  requireFreePath(place);
  if (place.liveAgents >= limits.liveAgents) {
    throw resourceExhausted("TENANT_FULL", `the tenant has ${limits.liveAgents} live agents already`);
  }
}

function requireFreePath({ path, existing, descendantLives }: SpawnPlace): void {
  if (existing === undefined) return;
  const name = path.join("/");
  if (!isTerminal(existing.phase)) {
    const metadata = { agent: name, uid: existing.uid, phase: phaseName(existing.phase) };
    throw new Fault(Code.ALREADY_EXISTS, "AGENT_EXISTS", `a live agent ${name} exists`, { metadata });
  }
  if (descendantLives) {
    throw failedPrecondition("DESCENDANT_ALIVE", name, `a descendant of the ended agent ${name} still lives`);
  }
}

export function checkPath(path: readonly string[], limits: Limits): void {
  if (path.length > limits.pathLength) {
    throw invalidField("agentId.agent", `at most ${limits.pathLength} elements`, "PATH_TOO_LONG");
  }
  path.forEach((element, i) => {
    const violation = nameViolation(`agentId.agent[${i}]`, element);
    if (violation !== undefined) throw invalidField(violation.field, violation.description, "NAME_INVALID");
  });
}

function requireParent({ path, parent, liveSubtree }: SpawnPlace, limits: Limits): void {
  const name = path.slice(0, -1).join("/");
  if (parent === undefined)
    throw notFound("PARENT_NOT_FOUND", `no agent ${name} to spawn below`, { agent: name });
  if (parent.phase === Phase.STOPPING) {
    throw failedPrecondition("PARENT_STOPPING", name, `agent ${name} is being stopped`);
  }
  if (isTerminal(parent.phase)) throw failedPrecondition("PARENT_TERMINAL", name, `agent ${name} has ended`);
  if (parent.children.length >= limits.liveChildren) {
    throw resourceExhausted(
      "CHILDREN_FULL",
      `agent ${name} has ${limits.liveChildren} live children already`,
    );
  }
  if (liveSubtree >= limits.liveSubtree) {
    throw resourceExhausted(
      "SUBTREE_FULL",
      `the tree of ${path[0]} has ${limits.liveSubtree} live agents already`,
    );
  }
}

/** A document that a spawn names; `kind` as in the catalog. */
export function requireDocument<T>(
  document: T | undefined,
  kind: "workspace" | "persona" | "environment" | "vm-profile",
  name: string,
): T {
  if (document !== undefined) return document;
  throw notFound(`${kind.toUpperCase().replace("-", "_")}_NOT_FOUND`, `there is no ${kind} ${quoted(name)}`, {
    [kind]: name,
  });
}

/** Same request under the same `requestId`: the first answer again. Another: refused. */
export function isRepeatedSpawn(
  earlier: { readonly fingerprint: string } | undefined,
  fingerprint: string,
): boolean {
  if (earlier === undefined) return false;
  if (earlier.fingerprint === fingerprint) return true;
  throw new Fault(
    Code.ALREADY_EXISTS,
    "REQUEST_ID_TAKEN",
    "requestId: another spawn was made under it in the last 24 hours",
  );
}

/** The workspace of a spawn that names none: the one marked default, else the only one, else the builtin. */
export function selectWorkspace(
  documents: readonly { readonly name: string; readonly default: boolean }[],
): string {
  const byName = [...documents].sort((a, b) => (a.name < b.name ? -1 : 1));
  const marked = byName.find((document) => document.default);
  if (marked !== undefined) return marked.name;
  return documents.length === 1 && documents[0] !== undefined ? documents[0].name : "default";
}
