/** Everything a key can be allowed to do. */
export const SCOPES = [
  "agents:read",
  "agents:spawn",
  "agents:message",
  "agents:interrupt",
  "agents:kill",
  "accounts:all",
  "catalog:read",
  "catalog:write",
  "catalog:propose",
  "keys:manage",
  "audit:read",
  "runner:work",
  "platform:operator",
] as const;

export type Scope = (typeof SCOPES)[number];

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

const OWN_AGENTS = [
  "agents:read",
  "agents:spawn",
  "agents:message",
  "agents:interrupt",
  "agents:kill",
] as const;
const MEMBER = [...OWN_AGENTS, "catalog:read", "catalog:propose"] as const;

/** Named sets of scopes. `admin` is everything within a tenant; only an operator of the platform crosses tenants. */
export const ROLES = {
  viewer: ["agents:read", "catalog:read", "accounts:all"],
  member: MEMBER,
  operator: [...MEMBER, "accounts:all"],
  admin: SCOPES.filter((scope) => scope !== "platform:operator"),
  "platform-operator": SCOPES,
  runner: ["runner:work"],
} as const satisfies Record<string, readonly Scope[]>;

export type Role = keyof typeof ROLES;

export function isRole(text: string): text is Role {
  return Object.hasOwn(ROLES, text);
}
