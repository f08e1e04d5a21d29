import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { DEFAULT_LIMITS } from "../../src/domain/agent/limits.js";
import { type Clock, systemClock } from "../../src/engine/clock.js";
import type { Config } from "../../src/main/config.js";
import { type MainOptions, openRetinue, type Retinue } from "../../src/main/main.js";
import { DEFAULT_ENVIRONMENT } from "../../src/runner/acp/environment.js";
import { cleanUp } from "./cleanup.js";
import { temporaryFolder } from "./folder.js";

export interface TestServer extends Retinue {
  readonly dataDir: string;
  readonly adminKey: string;
  /** Everything that was logged so far. */
  readonly logged: string[];
  restart(): Promise<TestServer>;
}

export type TestServerOptions = Partial<Config> & Pick<MainOptions, "isolation">;
/** No agent program but the embedded one, whatever is installed where the tests run. */
export const NO_AGENTS: Config["agents"] = {
  commands: {},
  environment: {},
  forAll: {},
  path: DEFAULT_ENVIRONMENT.PATH,
};

/** The real server on a free port, with its own data folder; closed when the test file is done. */
export async function startServer(
  options: TestServerOptions = {},
  clock: Clock = systemClock,
): Promise<TestServer> {
  const { isolation, ...config } = options;
  const dataDir = config.data ?? join(temporaryFolder(), "data");
  const logged: string[] = [];
  const log = pino({ level: "trace" }, { write: (line: string) => void logged.push(line) });
  const retinue = await openRetinue({
    config: {
      port: 0,
      host: "127.0.0.1",
      publicUrl: undefined,
      tls: undefined,
      operatorKey: undefined,
      masterKey: undefined,
      retentionDays: 90,
      metricsToLoopback: false,
      requestsPerSecond: 0,
      maxOpenStreams: 1000,
      maxConnections: 1000,
      limits: DEFAULT_LIMITS,
      logLevel: "trace",
      localRepos: [],
      home: "/nonexistent",
      allowUnsandboxed: true,
      agents: NO_AGENTS,
      allowPrivateWebhooks: false,
      failpoints: new Set(),
      ...config,
      data: dataDir,
    },
    clock,
    isolation,
    log,
    onFatal(error) {
      throw error;
    },
  });
  let open = true;
  const close = async (graceMs = 1000) => {
    if (!open) return;
    open = false;
    await retinue.close(graceMs);
  };
  cleanUp(() => close(0));
  return {
    ...retinue,
    close,
    dataDir,
    logged,
    adminKey: readFileSync(retinue.adminKeyFile, "utf8").trim(),
    restart: async () => {
      await close();
      return startServer({ ...options, data: dataDir }, clock);
    },
  };
}

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into JSON of every shape
  readonly body: any;
  readonly headers: Headers;
}

/** One `/v1` request; the body is sent as JSON. */
export async function rest(
  server: { url: string },
  key: string | undefined,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const headers: Record<string, string> = {};
  if (key !== undefined) headers.authorization = `Bearer ${key}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  const response = await fetch(server.url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    body: text === "" ? undefined : JSON.parse(text),
    headers: response.headers,
  };
}

export const encode = (document: unknown): string => Buffer.from(JSON.stringify(document)).toString("base64");
// biome-ignore lint/suspicious/noExplicitAny: tests look into JSON of every shape
export const decode = (payload: string): any => JSON.parse(Buffer.from(payload, "base64").toString());

/** Mints a key through the catalog and returns it. */
export async function mintKey(server: TestServer, name: string, token: object): Promise<string> {
  const answer = await rest(server, server.adminKey, "POST", `/v1/catalog/token/${name}`, {
    payload: encode(token),
  });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return decode(answer.body.payload).key;
}
