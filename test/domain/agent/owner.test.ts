import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import { AgentIdSchema, Provider } from "../../../gen/retinue/v1/agent_id_pb.js";
import { Phase } from "../../../gen/retinue/v1/agent_pb.js";
import { type AccountFilter, isListed, parseAccountFilter } from "../../../src/domain/agent/list-filter.js";
import { type Incarnation, resolveIncarnation, resolveOwner } from "../../../src/domain/agent/owner.js";
import type { Caller } from "../../../src/domain/caller.js";
import type { Scope } from "../../../src/domain/scope.js";
import { type Refusal, refuses } from "./fixtures.js";

const { CODEHOST_OAUTH, CODEHOST_APP, IDP_OIDC, SERVICE_PROFILE } = Provider;
const caller = (...scopes: Scope[]): Caller => ({
  tenant: "codehost_app/local",
  ownerProvider: CODEHOST_OAUTH,
  account: "ann",
  keyId: "k",
  keyName: "k",
  role: "",
  scopes: new Set(scopes),
  expiresAtMs: undefined,
});
const member = caller("agents:read");
const operator = caller("agents:read", "accounts:all");
const DENIED: Refusal = { code: Code.PERMISSION_DENIED, reason: "PERMISSION_DENIED" };

describe("account filter of list agents (interface 4.6; semantics 1, row 17)", () => {
  const rows: [row: string, account: string, filter: AccountFilter][] = [
    ["empty: the caller's own", "", { ownerProvider: CODEHOST_OAUTH, account: "ann" }],
    ["*: every account", "*", undefined],
    [
      "a bare name: under the caller's own provider",
      "bob",
      { ownerProvider: CODEHOST_OAUTH, account: "bob" },
    ],
    ["codehost_oauth/…", "codehost_oauth/bob", { ownerProvider: CODEHOST_OAUTH, account: "bob" }],
    ["codehost_app/…", "codehost_app/org", { ownerProvider: CODEHOST_APP, account: "org" }],
    ["idp_oidc/…", "idp_oidc/b@x.org", { ownerProvider: IDP_OIDC, account: "b@x.org" }],
    ["service_profile/…", "service_profile/bot", { ownerProvider: SERVICE_PROFILE, account: "bot" }],
    ["only the first slash divides", "idp_oidc/a/b", { ownerProvider: IDP_OIDC, account: "a/b" }],
  ];
  for (const [row, account, filter] of rows) {
    it(row, () => assert.deepEqual(parseAccountFilter(account, operator), filter));
  }
  const refused: [row: string, account: string, who: Caller, refusal: Refusal][] = [
    [
      "an unknown provider",
      "github/bob",
      operator,
      { code: Code.INVALID_ARGUMENT, reason: "PROVIDER_UNKNOWN", field: "account" },
    ],
    [
      "a provider in upper case",
      "CODEHOST_APP/x",
      operator,
      { code: Code.INVALID_ARGUMENT, reason: "PROVIDER_UNKNOWN" },
    ],
    ["unspecified", "unspecified/x", operator, { code: Code.INVALID_ARGUMENT, reason: "PROVIDER_UNKNOWN" }],
    [
      "no account after the slash",
      "idp_oidc/",
      operator,
      { code: Code.INVALID_ARGUMENT, reason: "ACCOUNT_INVALID" },
    ],
    [
      "* after a provider",
      "idp_oidc/*",
      operator,
      { code: Code.INVALID_ARGUMENT, reason: "ACCOUNT_INVALID" },
    ],
    ["* without accounts:all", "*", member, DENIED],
    ["another account without accounts:all", "bob", member, DENIED],
    ["the same name under another provider without accounts:all", "idp_oidc/ann", member, DENIED],
  ];
  for (const [row, account, who, refusal] of refused) {
    it(`refused: ${row}`, () => refuses(() => parseAccountFilter(account, who), refusal));
  }
  it("includeTerminal widens the phases only", () => {
    const mine = { ownerProvider: CODEHOST_OAUTH, account: "ann" };
    const filter = parseAccountFilter("", member);
    assert.equal(isListed({ ...mine, phase: Phase.COMPLETED }, filter, false), false);
    assert.equal(isListed({ ...mine, phase: Phase.COMPLETED }, filter, true), true);
    assert.equal(isListed({ ...mine, phase: Phase.STOPPING }, filter, false), true);
    assert.equal(isListed({ ...mine, account: "bob", phase: Phase.RUNNING }, filter, true), false);
    assert.equal(isListed({ ...mine, account: "bob", phase: Phase.RUNNING }, undefined, false), true);
  });
});

describe("whose agent a request means (semantics 1, row 16)", () => {
  const id = (more: MessageInitShape<typeof AgentIdSchema>) => create(AgentIdSchema, more);
  const tenant = { $typeName: "retinue.v1.Tenant", provider: CODEHOST_APP, org: "other" } as const;
  it("tenant and account are filled in from the caller", () => {
    const owner = { tenant: "codehost_app/local", ownerProvider: CODEHOST_OAUTH, account: "ann" };
    assert.deepEqual(resolveOwner(member, undefined), owner);
    assert.deepEqual(resolveOwner(member, id({ agent: ["a"] })), owner);
  });
  it("what is set is passed through exactly as sent", () => {
    const owner = resolveOwner(operator, id({ ownerProvider: SERVICE_PROFILE, account: "Bot" }));
    assert.deepEqual([owner.ownerProvider, owner.account], [SERVICE_PROFILE, "Bot"]);
  });
  it("another account without accounts:all: PERMISSION_DENIED before any look-up", () => {
    refuses(() => resolveOwner(member, id({ account: "bob" })), DENIED);
    refuses(() => resolveOwner(member, id({ ownerProvider: IDP_OIDC })), DENIED);
  });
  it("another tenant: PERMISSION_DENIED, also with accounts:all", () => {
    refuses(() => resolveOwner(operator, id({ tenant })), DENIED);
  });
  it("an operator of the platform crosses tenants", () => {
    assert.equal(
      resolveOwner(caller("platform:operator", "accounts:all"), id({ tenant })).tenant,
      "codehost_app/other",
    );
  });
});

describe("which incarnation a request means (semantics 1, row 21)", () => {
  const found: Incarnation[] = [
    { uid: "u1", workspace: "main", current: false },
    { uid: "u2", workspace: "main", current: true },
    { uid: "u3", workspace: "lab", current: true },
  ];
  const path = ["a"];
  const NOT_FOUND: Refusal = { code: Code.NOT_FOUND, reason: "AGENT_NOT_FOUND" };
  it("a workspace names the one there", () => {
    assert.equal(resolveIncarnation(found, { path, workspace: "lab", uid: "" }, "change").uid, "u3");
  });
  it("an empty workspace: the one agent of that owner at that path", () => {
    assert.equal(resolveIncarnation(found.slice(0, 2), { path, workspace: "", uid: "" }, "change").uid, "u2");
  });
  it("several: INVALID_ARGUMENT naming the workspaces", () => {
    refuses(() => resolveIncarnation(found, { path, workspace: "", uid: "" }, "read"), {
      code: Code.INVALID_ARGUMENT,
      reason: "WORKSPACE_AMBIGUOUS",
      metadata: { workspaces: "lab, main" },
      field: "agentId.workspace",
    });
  });
  it("a uid settles it", () => {
    assert.equal(resolveIncarnation(found, { path, workspace: "", uid: "u3" }, "change").workspace, "lab");
  });
  it("a mutation naming an old uid: NOT_FOUND", () => {
    refuses(() => resolveIncarnation(found, { path, workspace: "main", uid: "u1" }, "change"), NOT_FOUND);
  });
  it("a read of an old uid works", () => {
    assert.equal(resolveIncarnation(found, { path, workspace: "main", uid: "u1" }, "read").uid, "u1");
  });
  it("a uid in another workspace: NOT_FOUND", () => {
    refuses(() => resolveIncarnation(found, { path, workspace: "lab", uid: "u2" }, "read"), NOT_FOUND);
  });
  it("nothing there: NOT_FOUND", () => {
    refuses(() => resolveIncarnation([], { path, workspace: "", uid: "" }, "read"), NOT_FOUND);
  });
});
