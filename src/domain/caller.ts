import { Code } from "../../gen/google/rpc/code_pb.js";
import { Provider, type Tenant } from "../../gen/retinue/v1/agent_id_pb.js";
import { Fault, invalidField, permissionDenied } from "./fault.js";
import type { KeyRecord, ShareGrant } from "./key.js";
import type { Scope } from "./scope.js";

/** Who is calling: an account of a tenant, and what its key allows. */
export interface Caller {
  /** `<provider_name>/<org>`. */
  readonly tenant: string;
  readonly ownerProvider: Provider;
  readonly account: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly role: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly expiresAtMs: number | undefined;
  /** Set for the key of an agent's own process: the attempt that it speaks for. */
  readonly turn?: TurnCaller;
  /** The service profile that this request is about, where it lists the caller. */
  readonly actsAs?: string;
  /** Set for the key of a share link: the agent that it may look at, and nothing else. */
  readonly share?: ShareGrant;
}

export interface TurnCaller {
  readonly uid: string;
  readonly runId: number;
  readonly attempt: number;
}

export function callerOf(key: KeyRecord): Caller {
  return {
    tenant: key.tenant,
    ownerProvider: key.ownerProvider,
    account: key.account,
    keyId: key.keyId,
    keyName: key.displayName || key.token,
    role: key.role,
    scopes: new Set(key.scopes as Scope[]),
    expiresAtMs: key.expiresAtMs,
    ...(key.share ? { share: key.share } : {}),
  };
}

/** How a caller is named in audit, history and `meta`. */
export function actorOf(caller: Caller): string {
  if (caller.keyId === "") return "system";
  return `${providerName(caller.ownerProvider)}/${caller.account}`;
}

/** PROVIDER_CODEHOST_APP → `codehost_app`. */
export function providerName(provider: Provider): string {
  return Provider[provider].toLowerCase();
}

/** `codehost_app` → PROVIDER_CODEHOST_APP; undefined for anything else. */
export function providerOf(name: string): Provider | undefined {
  if (name !== name.toLowerCase()) return undefined;
  const value = (Provider as unknown as Record<string, Provider>)[name.toUpperCase()];
  return typeof value === "number" && value !== Provider.UNSPECIFIED ? value : undefined;
}

/** `codehost_app/local` → the message. */
export function tenantOf(name: string): { provider: Provider; org: string } {
  const slash = name.indexOf("/");
  return { provider: providerOf(name.slice(0, slash)) ?? Provider.UNSPECIFIED, org: name.slice(slash + 1) };
}

/**
 * The tenant a request is about: the caller's where it names none, otherwise exactly what it names, field
 * by field. Decides permission, so it comes before any look-up.
 */
export function resolveTenant(caller: Caller, asked: Tenant | undefined): string {
  if (asked === undefined) return caller.tenant;
  const own = tenantOf(caller.tenant);
  const provider = asked.provider === Provider.UNSPECIFIED ? own.provider : asked.provider;
  const name = `${providerName(provider)}/${asked.org === "" ? own.org : asked.org}`;
  if (name !== caller.tenant && !caller.scopes.has("platform:operator")) {
    throw permissionDenied(`the key belongs to tenant ${caller.tenant} and may not act in ${name}`);
  }
  return name;
}

export function requireScope(caller: Caller, scope: Scope): void {
  if (caller.scopes.has(scope)) return;
  throw permissionDenied(`the key lacks the scope ${scope}`, { scope });
}

/** It is shown in every list of the audit log. */
const JUSTIFICATION_MAX = 4096;

/** Operators of the platform act on what is not theirs: they say why, every time. */
export function requireJustification(caller: Caller, field: string, text: string): void {
  if (text.length > JUSTIFICATION_MAX) {
    throw invalidField(field, `at most ${JUSTIFICATION_MAX} characters, this one has ${text.length}`);
  }
  if (!caller.scopes.has("platform:operator") || text.trim() !== "") return;
  throw new Fault(
    Code.INVALID_ARGUMENT,
    "JUSTIFICATION_REQUIRED",
    `${field}: required for writes of a platform operator; say why`,
    { violations: [{ field, description: "required for writes of a platform operator; say why" }] },
  );
}
