import { create } from "@bufbuild/protobuf";
import type { Logger } from "pino";
import { type Integration, IntegrationSchema, IntegrationType } from "../../../gen/retinue/v1/catalog_pb.js";
import { integration, signingSecret } from "../../domain/catalog/kinds/integration.js";
import { failedPrecondition } from "../../domain/fault.js";
import type { Vault } from "../../domain/vault.js";
import type { Poster } from "../../outbound/poster.js";
import type { AgentRow } from "../../storage/agent-rows.js";
import type { Store, StoredResource } from "../../storage/store.js";
import type { Act, Auditor } from "../audit.js";
import type { Catalog } from "../catalog/catalog.js";
import { everyDocument } from "../catalog/every-document.js";
import { resourceNotFound } from "../catalog/put.js";
import { documentOf } from "../catalog/values.js";
import type { Clock } from "../clock.js";
import { systemAct } from "./system-act.js";
import { openLine, type WebhookLine } from "./webhook-line.js";

/** Keeps a line open for each integration that posts events. */
export interface Webhooks {
  /** Opens them all, and takes up what an earlier server had not posted. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** An integration was written or deleted. */
  changed(stored: StoredResource): void;
  /** Something about an agent was committed. */
  committed(row: AgentRow): void;
  /** Posts an agent's events again, from a place in its log on. */
  replay(request: ReplayRequest): Promise<void>;
}

export interface ReplayRequest {
  readonly tenant: string;
  /** Of the integration. */
  readonly name: string;
  readonly row: Pick<AgentRow, "uid" | "tenant">;
  readonly afterSeq: number;
  readonly act: Act;
}

export interface WebhooksOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly auditor: Auditor;
  readonly catalog: Pick<Catalog, "amend">;
  readonly vault: Vault;
  readonly poster: Poster;
  readonly log: Logger;
}

const PAGE = 200;
const NOT_ENABLED = "the integration is not an enabled webhook: only those post events";

export function createWebhooks(options: WebhooksOptions): Webhooks {
  const { store, clock, auditor, catalog, vault, poster, log } = options;
  const tenants = new Map<string, Map<string, WebhookLine>>();
  /** Changes of one integration are taken up one after the other. */
  let changes: Promise<void> = Promise.resolve();
  let stopped = false;

  async function close(tenant: string, name: string): Promise<void> {
    const lines = tenants.get(tenant);
    const line = lines?.get(name);
    lines?.delete(name);
    await line?.stop();
  }

  async function open(stored: StoredResource): Promise<void> {
    const { tenant, name, createdAtMs } = stored;
    await close(tenant, name);
    if (stored.deleted || stopped) return;
    const document = documentOf(integration, stored);
    if (document.type !== IntegrationType.WEBHOOK || !document.enabled) return;
    const secret = signingSecret(vault, tenant, name, document.signingNonce);
    const giveUp = (reason: string) => disable(stored, reason);
    const line = openLine({ store, clock, poster, name, createdAtMs, document, secret, giveUp });
    tenants.set(tenant, (tenants.get(tenant) ?? new Map<string, WebhookLine>()).set(name, line));
    await takeUp(stored, line);
  }

  /** Wakes the line for every agent whose log is ahead of its cursor. */
  async function takeUp({ tenant, name, createdAtMs }: StoredResource, line: WebhookLine): Promise<void> {
    for (let afterUid = ""; ; ) {
      const query = { tenant, integration: name, createdAtMs, afterUid, limit: PAGE };
      const uids = await store.webhookBacklog(query);
      for (const uid of uids) line.wake(uid);
      if (uids.length < PAGE) return;
      afterUid = uids.at(-1) as string;
    }
  }

  /** People see why in the document itself, and set `enabled` again when it is mended. */
  function disable({ tenant, kind, name }: StoredResource, reason: string): void {
    log.warn({ tenant, integration: name, reason }, "a webhook is given up");
    const change = (document: Integration) =>
      create(IntegrationSchema, { ...document, enabled: false, disabledReason: reason });
    catalog
      .amend({
        ref: { tenant, kind, name },
        kind: integration,
        act: systemAct(tenant, "Webhooks/GiveUp"),
        change,
      })
      .catch((err: unknown) => log.error({ err, tenant, integration: name }, "could not disable a webhook"));
  }

  function later(work: () => Promise<void>): void {
    changes = changes.then(work).catch((err: unknown) => log.error({ err }, "a webhook could not be opened"));
  }

  return {
    async start() {
      await everyDocument(store, integration.name, async (stored) => later(() => open(stored)));
      await changes;
    },
    async stop() {
      stopped = true;
      await changes;
      await Promise.all(
        [...tenants.values()].flatMap((lines) => [...lines.values()].map((line) => line.stop())),
      );
    },
    changed: (stored) => later(() => open(stored)),
    async replay({ tenant, name, row, afterSeq, act }) {
      const ref = { tenant, kind: integration.name, name };
      const stored = await store.resource(ref);
      if (stored === undefined || stored.deleted || row.tenant !== tenant) throw resourceNotFound(ref);
      const line = tenants.get(tenant)?.get(name);
      if (line === undefined)
        throw failedPrecondition("WEBHOOK_NOT_ENABLED", `integration/${name}`, NOT_ENABLED);
      const { generation, createdAtMs } = stored;
      const target = `integration/${name}`;
      const what = { tenant, target, generationBefore: generation, generationAfter: generation };
      await line.rewind(row.uid, [
        { type: "webhookCursor", row: { uid: row.uid, integration: name, createdAtMs, seq: afterSeq } },
        auditor.done(act, what),
      ]);
    },
    committed({ tenant, uid }) {
      for (const line of tenants.get(tenant)?.values() ?? []) line.wake(uid);
    },
  };
}
