import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Logger, pino } from "pino";
import { createAgentEngine } from "../engine/agents/engine.js";
import { createAuditor } from "../engine/audit.js";
import { createAutomation } from "../engine/automation/automation.js";
import { createCatalog } from "../engine/catalog/catalog.js";
import { createCatalogReads } from "../engine/catalog/read.js";
import { createSecrets } from "../engine/catalog/secrets.js";
import { type Clock, systemClock } from "../engine/clock.js";
import { createKeys } from "../engine/keys.js";
import { createRetention } from "../engine/retention.js";
import { admitting } from "../engine/tenancy.js";
import { createVault } from "../engine/vault.js";
import { createHttpPoster } from "../outbound/http-poster.js";
import { type AcpRunnerOptions, createAcpRunner } from "../runner/acp/acp-runner.js";
import { createGitWorkspaces } from "../runner/git/git-workspaces.js";
import { createPrograms } from "../runner/profiles/programs.js";
import { createSchemas } from "../schemas/schemas.js";
import { agentService } from "../services/agent-service.js";
import { agentToolsService } from "../services/agent-tools/agent-tools-service.js";
import { auditService } from "../services/audit-service.js";
import { automationService } from "../services/automation-service.js";
import { catalogService } from "../services/catalog-service.js";
import { identityService } from "../services/identity-service.js";
import { poolService } from "../services/pool-service.js";
import { retentionService } from "../services/retention-service.js";
import { taskService } from "../services/task-service.js";
import { timelineService } from "../services/timeline-service.js";
import { usageService } from "../services/usage-service.js";
import { workService } from "../services/work-service.js";
import { openSqliteStore } from "../storage/sqlite/open.js";
import type { StoredResource } from "../storage/store.js";
import { createGuards } from "../transport/guards/guards.js";
import { createMetrics } from "../transport/guards/metrics.js";
import { createOpenCalls } from "../transport/guards/open-calls.js";
import { createServer } from "../transport/server.js";
import { bootstrap, SYSTEM } from "./bootstrap.js";
import { type Config, isLoopbackHost } from "./config.js";
import { admitTenants } from "./isolation.js";
import { masterKeyOf } from "./master-key.js";
import { VERSION } from "./version.js";

/** A running server. Tests open the same one. */
export interface Retinue {
  /** `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly adminKeyFile: string;
  /** Stops gracefully, within the grace plus a moment. */
  close(graceMs?: number): Promise<void>;
}

export interface MainOptions {
  readonly config: Config;
  readonly clock?: Clock;
  readonly log?: Logger;
  /** `none`: as if bubblewrap did not work here. */
  readonly isolation?: AcpRunnerOptions["isolation"] | undefined;
  /** The store can no longer be trusted; the process must exit. */
  readonly onFatal: (error: Error) => void;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const EXPIRY_SWEEP_MS = 1000;
const POST_TIMEOUT_MS = 15_000;
const CLOSE_GRACE_MS = 10_000;

export function createLog(level: string): Logger {
  // Standard output is for people and pipes; the log goes to standard error.
  return pino(
    { level, redact: ["*.authorization", "*.headers.authorization", "*.key"] },
    pino.destination(2),
  );
}

/** Keys and settings of the server's user are none of an agent's business; a system folder has to stay visible. */
function hiddenHome(home: string): string[] {
  return home.split("/").filter(Boolean).length > 0 && !/^\/(usr|bin|lib|etc|opt|var)?$/.test(home)
    ? [home]
    : [];
}

export async function openRetinue(options: MainOptions): Promise<Retinue> {
  const { config, clock = systemClock } = options;
  const log = options.log ?? createLog(config.logLevel);
  const store = await openSqliteStore({ dataDir: config.data, onFatal: options.onFatal, log });
  try {
    const auditor = createAuditor(clock);
    const schemas = createSchemas();
    const vault = createVault(await masterKeyOf(store, config.data, config.masterKey));
    const operatorKeyFile = config.operatorKey;
    const { adminKeyFile } = await bootstrap({
      store,
      auditor,
      clock,
      schemas,
      vault,
      dataDir: config.data,
      operatorKeyFile,
    });

    const openCalls = createOpenCalls(config.maxOpenStreams);
    const keys = createKeys(store, clock, log);
    keys.onChanged((record) => openCalls.keyChanged(record));
    const metrics = createMetrics(() => openCalls.size);
    const { requestsPerSecond } = config;
    const dataDir = resolve(config.data);
    const agentsFolder = join(dataDir, "agents");
    const runner = await createAcpRunner({
      agentsFolder,
      environment: { PATH: config.agents.path },
      isolation: options.isolation,
      allowUnsandboxed: config.allowUnsandboxed,
    });
    const admit = await admitTenants(runner, config, store);
    const url = { server: "", mcp: "" };
    const publicUrl = () => config.publicUrl ?? url.server;
    const keyChanged = keys.changed;
    const changed = (stored: StoredResource) => automation.changed(stored);
    const catalog = admitting(
      createCatalog({ store, clock, auditor, schemas, vault, publicUrl, keyChanged, changed }),
      admit,
    );
    const engine = createAgentEngine({
      store,
      clock,
      auditor,
      runner,
      workspaces: await createGitWorkspaces({
        dataDir,
        home: config.home,
        localRepos: config.localRepos,
      }),
      secretValue: createSecrets(store, vault).secretValue,
      admit,
      limits: config.limits,
      schemas,
      programs: createPrograms(config.agents),
      agentsFolder,
      hide: [dataDir, ...hiddenHome(config.home)],
      mcpUrl: () => url.mcp,
      publicUrl,
      at(failpoint) {
        // As kill -9 does it: nothing is flushed, closed or told.
        if (config.failpoints.has(failpoint)) process.kill(process.pid, "SIGKILL");
      },
      log,
    });
    const poster = createHttpPoster({
      anywhere: config.allowPrivateWebhooks || isLoopbackHost(config.host),
      timeoutMs: POST_TIMEOUT_MS,
    });
    const automation = createAutomation({ store, clock, auditor, vault, catalog, engine, poster, log });
    const retention = createRetention({
      store,
      clock,
      auditor,
      keepMs: config.retentionDays === 0 ? undefined : config.retentionDays * DAY_MS,
      system: { caller: SYSTEM, action: "system/retention", justification: "" },
      removeFolder: (uid) => rm(join(agentsFolder, uid), { recursive: true, force: true }),
      log,
    });
    const server = await createServer({
      services: [
        identityService(VERSION),
        catalogService(catalog, createCatalogReads(store)),
        auditService(store),
        automationService({ store, clock, webhooks: automation.webhooks }),
        agentService({ store, ...engine }),
        taskService(store, engine.commands),
        workService(store, engine.work),
        poolService(engine.pools),
        timelineService(store, engine.hub, engine.views),
        usageService(store),
        retentionService(retention, clock),
        agentToolsService({ store, ...engine }),
      ],
      guards: createGuards({
        keys,
        agentKeys: engine.keys,
        store,
        auditor,
        clock,
        metrics,
        openCalls,
        requestsPerSecond,
        log,
      }),
      codehost: automation.codehost,
      openCalls,
      metrics,
      metricsToLoopback: config.metricsToLoopback,
      tls: config.tls,
      maxConnections: config.maxConnections,
      version: VERSION,
      log,
    });
    const port = await server.listen(config.port, config.host);
    const host = config.host.includes(":") ? `[${config.host}]` : config.host;
    url.server = `${config.tls ? "https" : "http"}://${host}:${port}`;
    const agentsReachIt = config.tls === undefined && isLoopbackHost(config.host);
    url.mcp = `${agentsReachIt ? url.server : `http://127.0.0.1:${await server.listenForAgents()}`}/mcp`;
    await engine.start();
    await automation.start();
    retention.start();
    const sweep = setInterval(() => openCalls.sweep(clock.nowMs()), EXPIRY_SWEEP_MS);
    return {
      url: url.server,
      adminKeyFile,
      async close(graceMs = CLOSE_GRACE_MS) {
        clearInterval(sweep);
        // At once, both: no new turn may start while calls in flight finish.
        await Promise.all([engine.stop(), automation.stop(), retention.stop(), server.stop(graceMs)]);
        await Promise.all([store.close(), schemas.close()]);
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}
