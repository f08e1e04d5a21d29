import type { Logger } from "pino";
import { integration } from "../../domain/catalog/kinds/integration.js";
import { schedule } from "../../domain/catalog/kinds/schedule.js";
import type { Vault } from "../../domain/vault.js";
import type { Poster } from "../../outbound/poster.js";
import type { Store, StoredResource } from "../../storage/store.js";
import type { AgentEngine } from "../agents/engine.js";
import type { Auditor } from "../audit.js";
import type { Catalog } from "../catalog/catalog.js";
import type { Clock } from "../clock.js";
import { type Codehost, createCodehost } from "./codehost.js";
import { createSchedules } from "./schedules.js";
import { createWebhooks, type Webhooks } from "./webhooks.js";

/** What works by itself: webhooks, deliveries of code hosts, schedules. */
export interface Automation {
  readonly webhooks: Webhooks;
  readonly codehost: Codehost;
  /** A catalog document was written or deleted. */
  changed(stored: StoredResource): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface AutomationOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly auditor: Auditor;
  readonly vault: Vault;
  readonly catalog: Pick<Catalog, "amend">;
  readonly engine: Pick<AgentEngine, "hub" | "spawner" | "commands">;
  readonly poster: Poster;
  readonly log: Logger;
}

export function createAutomation(options: AutomationOptions): Automation {
  const { hub, spawner, commands } = options.engine;
  const webhooks = createWebhooks(options);
  const schedules = createSchedules({ ...options, spawner, commands });
  hub.listenToAll(webhooks.committed);
  return {
    webhooks,
    codehost: createCodehost({ ...options, commands }),
    changed(stored) {
      if (stored.kind === integration.name) webhooks.changed(stored);
      if (stored.kind === schedule.name) schedules.changed(stored);
    },
    async start() {
      await Promise.all([webhooks.start(), schedules.start()]);
    },
    async stop() {
      await Promise.all([webhooks.stop(), schedules.stop()]);
    },
  };
}
