import { clone } from "@bufbuild/protobuf";
import {
  InputFormat,
  type Integration,
  IntegrationSchema,
  IntegrationType,
} from "../../../../gen/retinue/v1/catalog_pb.js";
import { EventType } from "../../../../gen/retinue/v1/event_pb.js";
import { requireScope } from "../../caller.js";
import { type FieldViolation, invalidField } from "../../fault.js";
import { nameViolation } from "../../name.js";
import type { Vault } from "../../vault.js";
import type { Kind, KindWrite, Settled } from "../kind.js";
import { ACCOUNT_MAX, describedViolations, found, repeatViolations, wordViolation } from "./field-rules.js";
import { namedDocument } from "./named-document.js";
import { webhookUrlViolation } from "./webhook-address.js";

export const integration: Kind<Integration> = {
  name: "integration",
  schema: IntegrationSchema,
  inputFormat: InputFormat.YAML,
  readScope: "catalog:read",
  writeScope: "catalog:write",
  // It makes a secret, which only the answer to its own write may carry.
  proposable: false,
  builtins: new Map(),
  serverSet: ["disabledReason", "signingSecret", "signingNonce", "hookId"],
  references: ({ workspaces }) =>
    workspaces.flatMap((name, index) => namedDocument(`workspaces[${index}]`, "workspace", name)),
  validate: (document) => [
    ...describedViolations(document),
    ...typeViolations(document),
    ...repeatViolations(
      document.events.map((event) => EventType[event]),
      (index) => `events[${index}]`,
    ),
    ...found(...document.workspaces.map((name, index) => nameViolation(`workspaces[${index}]`, name))),
    ...repeatViolations(document.workspaces, (index) => `workspaces[${index}]`),
    ...repeatViolations(document.allowedAuthors, (index) => `allowedAuthors[${index}]`),
  ],
  settle: settleIntegration,
};

/** `whsec_…`: made again whenever it is needed, stored nowhere. */
export function signingSecret(vault: Vault, tenant: string, name: string, nonce: string): string {
  const bytes = vault.derive(`integration signing\n${tenant}\n${name}`, nonce);
  return `whsec_${Buffer.from(bytes).toString("base64")}`;
}

/** Names an integration in `/hooks/{id}`. No secret: what proves a delivery is its signature. */
export function hookIdOf(tenant: string, name: string): string {
  return Buffer.from(`${tenant}\n${name}`).toString("base64url");
}

export function parseHookId(hookId: string): { readonly tenant: string; readonly name: string } | undefined {
  const [tenant = "", name = "", ...more] = Buffer.from(hookId, "base64url").toString().split("\n");
  return more.length === 0 && hookIdOf(tenant, name) === hookId ? { tenant, name } : undefined;
}

function typeViolations(document: Integration): FieldViolation[] {
  const { type, url, events, allowedAuthors } = document;
  switch (type) {
    case IntegrationType.WEBHOOK:
      return found(
        webhookUrlViolation("url", url),
        only("allowedAuthors", allowedAuthors.length > 0, "CODEHOST"),
      );
    case IntegrationType.CODEHOST:
      return found(
        only("url", url !== "", "WEBHOOK"),
        only("events", events.length > 0, "WEBHOOK"),
        ...allowedAuthors.map((author, index) =>
          author === ""
            ? { field: `allowedAuthors[${index}]`, description: "must not be empty" }
            : wordViolation(`allowedAuthors[${index}]`, author, ACCOUNT_MAX),
        ),
      );
    default:
      return [
        { field: "type", description: "required: INTEGRATION_TYPE_WEBHOOK or INTEGRATION_TYPE_CODEHOST" },
      ];
  }
}

function only(field: string, isSet: boolean, type: string): FieldViolation | undefined {
  return isSet ? { field, description: `is for the type INTEGRATION_TYPE_${type} only` } : undefined;
}

function settleIntegration(write: KindWrite<Integration>): Settled<Integration> {
  const { tenant, name, before, caller } = write;
  // It reads or messages agents of every account on its own: nobody gets that who has not got it already.
  requireScope(caller, write.document.type === IntegrationType.WEBHOOK ? "agents:read" : "agents:message");
  requireScope(caller, "accounts:all");
  const document = clone(IntegrationSchema, write.document);
  document.enabled ??= before?.enabled ?? true;
  // The reason stands as long as what it explains.
  if (document.enabled || before?.enabled) document.disabledReason = "";
  if (before !== undefined) {
    if (document.type !== before.type)
      throw invalidField("payload.type", "cannot change: make another integration");
    return { document };
  }
  document.signingNonce = write.newKey().secret;
  if (document.type === IntegrationType.CODEHOST) document.hookId = hookIdOf(tenant, name);
  return {
    document,
    reveal: { signingSecret: signingSecret(write.vault, tenant, name, document.signingNonce) },
  };
}
