import { type Agent, nameOf } from "./agent.js";

/** The branch that an agent works on and may push: of its own, so that no two agents ever meet on one. */
export function branchOf(agent: Agent): string {
  return `retinue/${refPart(agent.key.account)}/${nameOf(agent)}-${agent.uid.slice(0, 8)}`;
}

/** Accounts are free text; what git takes in a part of a ref is not. */
function refPart(text: string): string {
  const part = text
    .replace(/[^A-Za-z0-9@._-]+/g, "-")
    .replace(/\.{2,}/g, ".")
    .replace(/^[-.]+|[-.]+$/g, "")
    .replace(/\.lock$/, "-lock");
  // A lone `@` names HEAD.
  return part === "" || part === "@" ? "account" : part;
}
