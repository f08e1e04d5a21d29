import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { IntegrationSchema, IntegrationType } from "../../../../gen/retinue/v1/catalog_pb.js";
import type { KindWrite } from "../../../../src/domain/catalog/kind.js";
import {
  hookIdOf,
  integration,
  parseHookId,
  signingSecret,
} from "../../../../src/domain/catalog/kinds/integration.js";
import { faultOf, invalidAt } from "../../fault-of.js";
import { callerWith, kindWrite, VAULT } from "./kind-write.js";
import { type BadRow, describedRows, type GoodRow, testRows } from "./violation-rows.js";

const webhook = { type: "INTEGRATION_TYPE_WEBHOOK", url: "https://example.com/hook" };
const codehost = { type: "INTEGRATION_TYPE_CODEHOST" };
const described = describedRows(webhook);
const to = (url: string) => ({ ...webhook, url });

const good: GoodRow[] = [
  ...described.good,
  ["takes events and workspaces", { ...webhook, events: ["EVENT_TYPE_TURN_ENDED"], workspaces: ["docs"] }],
  ["takes plain http, which is for the server to allow", to("http://127.0.0.1:9000/x?y=z")],
  ["takes a code host", { ...codehost, allowedAuthors: ["alice", "review-bot[bot]"] }],
];

const bad: BadRow[] = [
  ...described.bad,
  ["refuses no type", {}, "type", "INTEGRATION_TYPE_WEBHOOK or"],
  ["refuses a webhook to nowhere", { type: webhook.type }, "url", "required"],
  ["refuses other protocols", to("ftp://example.com/"), "url", "https://host/path"],
  ["refuses no host", to("https:///x"), "url", "https://host/path"],
  ["refuses a password", to("https://a:b@example.com/"), "url", "password"],
  ["refuses a fragment", to("https://example.com/#x"), "url", "'#'"],
  ["refuses spaces", to("https://example.com/a b"), "url", "spaces"],
  ["refuses an endless address", to(`https://example.com/${"x".repeat(2048)}`), "url", "at most 2048"],
  ["refuses authors for a webhook", { ...webhook, allowedAuthors: ["a"] }, "allowedAuthors", "CODEHOST only"],
  ["refuses an address for a code host", { ...codehost, url: "https://a.example/" }, "url", "WEBHOOK only"],
  ["refuses events for a code host", { ...codehost, events: ["EVENT_TYPE_USAGE"] }, "events", "WEBHOOK only"],
  ["refuses an author without a name", { ...codehost, allowedAuthors: [""] }, "allowedAuthors[0]", "empty"],
  [
    "refuses an event twice",
    { ...webhook, events: ["EVENT_TYPE_USAGE", "EVENT_TYPE_USAGE"] },
    "events[1]",
    "already at events[0]",
  ],
  ["refuses a workspace by no name", { ...webhook, workspaces: ["A"] }, "workspaces[0]", '"A"'],
];

testRows(integration, good, bad);

type Init = MessageInitShape<typeof IntegrationSchema>;
type Write = KindWrite<ReturnType<typeof document>>;
const document = (init: Init) => create(IntegrationSchema, init);
const reader = callerWith(["agents:read", "accounts:all"]);
const hook: Init = { type: IntegrationType.WEBHOOK, url: "https://example.com/hook" };

function settle(init: Init, more: Partial<Write> = {}, caller = reader) {
  const settled = integration.settle?.(kindWrite(document(init), caller, more));
  assert.ok(settled);
  return settled;
}

test("integration: its signing secret is shown once and can be made again", () => {
  const { document, reveal } = settle(hook);
  assert.equal(document.enabled, true);
  assert.match(reveal?.signingSecret ?? "", /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(
    signingSecret(VAULT, "codehost_app/other", "it", document.signingNonce),
    reveal?.signingSecret,
  );
  assert.notEqual(signingSecret(VAULT, "codehost_app/b", "it", document.signingNonce), reveal?.signingSecret);
  assert.equal(
    settle({ ...hook, signingNonce: document.signingNonce }, { before: document }).reveal,
    undefined,
  );
});

test("integration: a code host's has an id that finds it", () => {
  const { document } = settle(
    { type: IntegrationType.CODEHOST },
    {},
    callerWith(["agents:message", "accounts:all"]),
  );
  assert.deepEqual(parseHookId(document.hookId), { tenant: "codehost_app/other", name: "it" });
  assert.equal(settle(hook).document.hookId, "");
  for (const wrong of ["", "x", `${hookIdOf("a", "b")}=`, hookIdOf("a", "b\nc")]) {
    assert.equal(parseHookId(wrong), undefined, wrong);
  }
});

test("integration: its type cannot change", () => {
  const { document } = settle(hook);
  assert.match(
    invalidAt("payload.type", () =>
      settle(
        { type: IntegrationType.CODEHOST },
        { before: document },
        callerWith(["agents:message", "accounts:all"]),
      ),
    ),
    /cannot change/,
  );
});

test("integration: nobody makes one that sees or does more than they may", () => {
  assert.match(faultOf(() => settle(hook, {}, callerWith(["agents:read"]))).message, /accounts:all/);
  assert.match(faultOf(() => settle(hook, {}, callerWith(["accounts:all"]))).message, /agents:read/);
  const inward = () => settle({ type: IntegrationType.CODEHOST }, {}, reader);
  assert.match(faultOf(inward).message, /agents:message/);
});

// enabled before, reason before, enabled as written, enabled after, reason after
const switches = [
  [true, "", undefined, true, ""],
  [true, "", false, false, ""],
  [false, "gone", undefined, false, "gone"],
  [false, "gone", false, false, "gone"],
  [false, "gone", true, true, ""],
] as const;

for (const [was, reason, sent, is, left] of switches) {
  test(`integration: enabled ${was} (${reason || "no reason"}), written ${sent}, is ${is} (${left || "no reason"})`, () => {
    const before = document({ ...hook, enabled: was, disabledReason: reason });
    const written = { ...hook, disabledReason: reason, ...(sent === undefined ? {} : { enabled: sent }) };
    const settled = settle(written, { before });
    assert.deepEqual([settled.document.enabled, settled.document.disabledReason], [is, left]);
  });
}
