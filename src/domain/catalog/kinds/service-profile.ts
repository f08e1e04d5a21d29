import { Provider } from "../../../../gen/retinue/v1/agent_id_pb.js";
import {
  InputFormat,
  type ServiceProfile,
  ServiceProfileSchema,
} from "../../../../gen/retinue/v1/catalog_pb.js";
import { actorOf, type Caller, providerName, providerOf } from "../../caller.js";
import { type FieldViolation, permissionDenied } from "../../fault.js";
import { quoted } from "../../name.js";
import type { Kind } from "../kind.js";
import { ACCOUNT_MAX, describedViolations, found, repeatViolations, wordViolation } from "./field-rules.js";

const PROVIDERS = [
  Provider.CODEHOST_OAUTH,
  Provider.CODEHOST_APP,
  Provider.IDP_OIDC,
  Provider.SERVICE_PROFILE,
].map(providerName);

export const serviceProfile: Kind<ServiceProfile> = {
  name: "service-profile",
  schema: ServiceProfileSchema,
  inputFormat: InputFormat.YAML,
  readScope: "catalog:read",
  // Who may act as whom is a question of access, like keys: not to be had with the right to write documents.
  writeScope: "keys:manage",
  proposable: false,
  builtins: new Map(),
  serverSet: [],
  validate: (document) => [
    ...describedViolations(document),
    ...found(...document.callers.map((caller, index) => callerViolation(`callers[${index}]`, caller))),
    ...repeatViolations(document.callers, (index) => `callers[${index}]`),
  ],
};

/** Whether the caller may act as the profile: as itself, or as one of those that it lists. */
export function isCallerOf(caller: Caller, name: string, profile: ServiceProfile | undefined): boolean {
  const itself = caller.ownerProvider === Provider.SERVICE_PROFILE && caller.account === name;
  return itself || (profile?.callers.includes(actorOf(caller)) ?? false);
}

export function requireCallerOf(caller: Caller, name: string, profile: ServiceProfile | undefined): void {
  if (isCallerOf(caller, name, profile)) return;
  throw permissionDenied(
    `only the callers that the service profile lists may act as service_profile/${name}`,
  );
}

function callerViolation(field: string, caller: string): FieldViolation | undefined {
  const [provider, account, ...more] = caller.split("/");
  if (!provider || !account || more.length > 0) {
    return {
      field,
      description: `${quoted(caller)} is not <provider_name>/<account>, such as codehost_oauth/alice`,
    };
  }
  if (providerOf(provider) === undefined) {
    return { field, description: `${quoted(provider)} is no provider; known: ${PROVIDERS.join(", ")}` };
  }
  return wordViolation(field, account, ACCOUNT_MAX);
}
