import { type Logger, pino } from "pino";
import { AgentService } from "../../gen/retinue/v1/agent_service_pb.js";
import { TaskService } from "../../gen/retinue/v1/task_service_pb.js";
import { TimelineService } from "../../gen/retinue/v1/timeline_service_pb.js";
import { createAuditor } from "../engine/audit.js";
import { createCatalog } from "../engine/catalog/catalog.js";
import { createCatalogReads } from "../engine/catalog/read.js";
import { type Clock, systemClock } from "../engine/clock.js";
import { createKeys } from "../engine/keys.js";
import { auditService } from "../services/audit-service.js";
import { catalogService } from "../services/catalog-service.js";
import { identityService } from "../services/identity-service.js";
import { unimplemented } from "../services/unimplemented.js";
import { openSqliteStore } from "../storage/sqlite/open.js";
import { createGuards } from "../transport/guards.js";
import { createMetrics } from "../transport/metrics.js";
import { createOpenCalls } from "../transport/open-calls.js";
import { createServer } from "../transport/server.js";
import { bootstrap } from "./bootstrap.js";
import type { Config } from "./config.js";
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
  /** The store can no longer be trusted; the process must exit. */
  readonly onFatal: (error: Error) => void;
}

const EXPIRY_SWEEP_MS = 1000;
const CLOSE_GRACE_MS = 10_000;

export function createLog(level: string): Logger {
  // Standard output is for people and pipes; the log goes to standard error.
  return pino(
    { level, redact: ["*.authorization", "*.headers.authorization", "*.key"] },
    pino.destination(2),
  );
}

export async function openRetinue(options: MainOptions): Promise<Retinue> {
  const { config, clock = systemClock } = options;
  const log = options.log ?? createLog(config.logLevel);
  const store = await openSqliteStore({ dataDir: config.data, onFatal: options.onFatal, log });
  try {
    const auditor = createAuditor(clock);
    const operatorKeyFile = config.operatorKey;
    const { adminKeyFile } = await bootstrap({
      store,
      auditor,
      clock,
      dataDir: config.data,
      operatorKeyFile,
    });

    const openCalls = createOpenCalls(config.maxOpenStreams);
    const keys = createKeys(store, clock, log);
    keys.onChanged((record) => openCalls.keyChanged(record));
    const metrics = createMetrics(() => openCalls.size);
    const catalog = createCatalog(store, clock, auditor, (key) => keys.changed(key));
    const { requestsPerSecond } = config;
    const server = await createServer({
      services: [
        identityService(VERSION),
        catalogService(catalog, createCatalogReads(store)),
        auditService(store),
        unimplemented(AgentService),
        unimplemented(TaskService),
        unimplemented(TimelineService),
      ],
      guards: createGuards({ keys, store, auditor, clock, metrics, openCalls, requestsPerSecond, log }),
      openCalls,
      metrics,
      metricsToLoopback: config.metricsToLoopback,
      tls: config.tls,
      maxConnections: config.maxConnections,
      log,
    });
    const port = await server.listen(config.port, config.host);
    const sweep = setInterval(() => openCalls.sweep(clock.nowMs()), EXPIRY_SWEEP_MS);
    return {
      url: `${config.tls ? "https" : "http"}://${config.host.includes(":") ? `[${config.host}]` : config.host}:${port}`,
      adminKeyFile,
      async close(graceMs = CLOSE_GRACE_MS) {
        clearInterval(sweep);
        await server.stop(graceMs);
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}
