import { InputFormat, type Token, TokenSchema } from "../../../../gen/retinue/v1/catalog_pb.js";
import type { FieldViolation } from "../../fault.js";
import type { KeyRecord } from "../../key.js";
import { quoted } from "../../name.js";
import { isRole, isScope, ROLES, SCOPES } from "../../scope.js";
import { timestampText } from "../document.js";
import type { Kind } from "../kind.js";
import {
  ACCOUNT_MAX,
  describedViolations,
  expiryViolation,
  found,
  optionalNameViolation,
  repeatViolations,
  wordViolation,
} from "./field-rules.js";
import { namedDocument } from "./named-document.js";
import { settleToken } from "./token-key.js";

export const token: Kind<Token> = {
  name: "token",
  schema: TokenSchema,
  inputFormat: InputFormat.YAML,
  // A token tells who may do what, which is a map for whoever looks for a key worth stealing.
  readScope: "keys:manage",
  writeScope: "keys:manage",
  proposable: false,
  builtins: new Map(),
  serverSet: ["keyId", "lastUsedAt", "key"],
  references: ({ serviceProfile }) => namedDocument("serviceProfile", "service-profile", serviceProfile),
  validate: (document) => [
    ...describedViolations(document),
    ...ownerViolations(document),
    ...grantViolations(document),
    ...found(expiryViolation(document)),
  ],
  settle: settleToken,
};

/** The key after its token was deleted. Ending a key is always allowed: it grants nothing to anybody. */
export function revokeKey(record: KeyRecord): KeyRecord {
  return { ...record, revoked: true };
}

/** For the `reveal` of reads: uses are kept with the key, since in the document each would be a version. */
export function lastUse(record: KeyRecord | undefined): Record<string, string> {
  return record?.lastUsedAtMs === undefined ? {} : { lastUsedAt: timestampText(record.lastUsedAtMs) };
}

function ownerViolations({ account, serviceProfile }: Token): FieldViolation[] {
  const slash = account.includes("/")
    ? {
        field: "account",
        description: "must be the bare account; its provider is that of the key that makes the token",
      }
    : wordViolation("account", account, ACCOUNT_MAX);
  const both = account !== "" && serviceProfile !== "";
  return found(
    slash,
    optionalNameViolation("serviceProfile", serviceProfile),
    both ? { field: "serviceProfile", description: "set account or serviceProfile, not both" } : undefined,
  );
}

function grantViolations({ role, scopes }: Token): FieldViolation[] {
  if (role !== "" && scopes.length > 0)
    return [{ field: "scopes", description: "set role or scopes, not both" }];
  if (role === "" && scopes.length === 0) {
    return [{ field: "role", description: `set role (${Object.keys(ROLES).join(", ")}) or scopes` }];
  }
  if (role !== "" && !isRole(role)) {
    return [
      { field: "role", description: `${quoted(role)} is no role; known: ${Object.keys(ROLES).join(", ")}` },
    ];
  }
  const unknown = scopes.map((scope, index) =>
    isScope(scope)
      ? undefined
      : {
          field: `scopes[${index}]`,
          description: `${quoted(scope)} is no scope; known: ${SCOPES.join(", ")}`,
        },
  );
  return [...found(...unknown), ...repeatViolations(scopes, (index) => `scopes[${index}]`)];
}
