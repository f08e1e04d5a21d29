import { create } from "@bufbuild/protobuf";
import type { Command } from "commander";
import { type AgentId, AgentIdSchema, Provider, type Tenant } from "../../gen/retinue/v1/agent_id_pb.js";
import { usageError } from "./exit.js";

/** Options that say whose agent is meant, and where; none is needed for one's own. */
export interface AddressOptions {
  readonly workspace?: string;
  readonly account?: string;
  readonly tenant?: string;
  readonly uid?: string;
}

export const AGENT_ARGUMENT = "path of the agent: NAME, or PARENT/CHILD";

export function addAddressOptions(command: Command): Command {
  return command
    .option("-w, --workspace <name>", "workspace of the agent, where several have one at that path")
    .option("--account <owner>", "owner of the agent: ACCOUNT, or PROVIDER/ACCOUNT")
    .option("--tenant <tenant>", "organisation: PROVIDER/ORG")
    .option("--uid <uid>", "this incarnation of the agent only");
}

export function agentIdOf(path: string, options: AddressOptions): AgentId {
  const [ownerProvider, account] = options.account === undefined ? [0, ""] : ownerOf(options.account);
  const tenant = options.tenant === undefined ? undefined : tenantOf(options.tenant);
  return create(AgentIdSchema, {
    ...(tenant === undefined ? {} : { tenant }),
    ownerProvider,
    account,
    agent: path === "" ? [] : path.split("/"),
    workspace: options.workspace ?? "",
    uid: options.uid ?? "",
  });
}

export function pathOf(id: AgentId | undefined): string {
  return id?.agent.join("/") ?? "";
}

/** `codehost_oauth`, for people. */
export function providerName(provider: Provider): string {
  return Provider[provider]?.toLowerCase() ?? "";
}

export function tenantOf(text: string): Pick<Tenant, "provider" | "org"> {
  const [provider, org] = splitOwner(text);
  if (provider === undefined)
    throw usageError(`--tenant ${text}: write PROVIDER/ORG, for example codehost_app/local`);
  return { provider, org };
}

function ownerOf(text: string): [Provider, string] {
  const [provider, account] = splitOwner(text);
  return [provider ?? Provider.UNSPECIFIED, account];
}

function splitOwner(text: string): [Provider | undefined, string] {
  const slash = text.indexOf("/");
  if (slash === -1) return [undefined, text];
  const name = text.slice(0, slash);
  const provider = Provider[name.toUpperCase() as keyof typeof Provider];
  if (provider === undefined) {
    throw usageError(`${name} is no provider: codehost_oauth, codehost_app, idp_oidc or service_profile`);
  }
  return [provider, text.slice(slash + 1)];
}
