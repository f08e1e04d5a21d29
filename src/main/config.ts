import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { homedir } from "node:os";
import { isAbsolute } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Limits } from "../domain/agent/limits.js";
import { FAILPOINTS, type Failpoint } from "../engine/agents/failpoints.js";
import type { ProgramsConfig } from "../runner/profiles/programs.js";
import { addAgentOptions, agentConfigOf } from "./agent-config.js";
import { addLimitOptions, limitsOf } from "./limits.js";

/** Everything `retinue serve` can be told. Flags win over the environment, which wins over defaults. */
export interface Config {
  readonly port: number;
  readonly host: string;
  readonly data: string;
  readonly publicUrl: string | undefined;
  readonly tls: { readonly cert: Buffer; readonly key: Buffer; readonly clientCa?: Buffer } | undefined;
  readonly operatorKey: string | undefined;
  /** File of the key that secrets are encrypted with; undefined: `master.key` in the data folder. */
  readonly masterKey: string | undefined;
  readonly metricsToLoopback: boolean;
  /** How long what is over is kept; 0: for good. */
  readonly retentionDays: number;
  readonly requestsPerSecond: number;
  readonly maxOpenStreams: number;
  readonly maxConnections: number;
  readonly limits: Limits;
  readonly logLevel: string;
  /** Folders below which workspaces may name local repositories. */
  readonly localRepos: readonly string[];
  /** Of the user that runs the server. */
  readonly home: string;
  /** Serves others, and several tenants, also where agents cannot be kept from reading everything. */
  readonly allowUnsandboxed: boolean;
  readonly agents: ProgramsConfig;
  /** Posts events also to private addresses and without TLS. */
  readonly allowPrivateWebhooks: boolean;
  /** Where this server is to die, for tests. */
  readonly failpoints: ReadonlySet<Failpoint>;
}

/** A mistake in the configuration: shown to the person as it is, without a stack. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];

export function dataOption(): Option {
  return new Option("--data <folder>", "where everything is kept").env("RETINUE_DATA").default("./data");
}

export function addServeOptions(command: Command): Command {
  return addAgentOptions(addLimitOptions(command))
    .addOption(
      flag("--port <port>", "0 picks one", "RETINUE_PORT").argParser(integer(0, 65_535)).default(8080),
    )
    .addOption(flag("--host <address>", "address to listen on", "RETINUE_HOST").default("127.0.0.1"))
    .addOption(dataOption())
    .addOption(flag("--public-url <url>", "how people reach this server", "RETINUE_PUBLIC_URL"))
    .addOption(flag("--tls-cert <file>", "PEM certificate chain; turns TLS on", "RETINUE_TLS_CERT"))
    .addOption(flag("--tls-key <file>", "PEM private key", "RETINUE_TLS_KEY"))
    .addOption(
      flag("--tls-client-ca <file>", "PEM authority that clients must be signed by", "RETINUE_TLS_CLIENT_CA"),
    )
    .addOption(
      toggle("--insecure", "allow cleartext on an address that others can reach", "RETINUE_INSECURE"),
    )
    .addOption(
      toggle(
        "--allow-unsandboxed",
        "serve others also where bubblewrap does not work, so that agents can read everything",
        "RETINUE_ALLOW_UNSANDBOXED",
      ),
    )
    .addOption(
      flag(
        "--local-repos <folders>",
        "where workspaces may name local repositories: a:b",
        "RETINUE_LOCAL_REPOS",
      ),
    )
    .addOption(
      toggle(
        "--allow-private-webhooks",
        "post events also to private addresses and over http://, as a server on a loopback address does",
        "RETINUE_ALLOW_PRIVATE_WEBHOOKS",
      ),
    )
    .addOption(
      flag("--operator-key <file>", "mint a platform-operator key into this file", "RETINUE_OPERATOR_KEY"),
    )
    .addOption(
      flag(
        "--master-key <file>",
        "key that secrets are encrypted with; made if missing (default: master.key in the data folder)",
        "RETINUE_MASTER_KEY",
      ),
    )
    .addOption(
      toggle("--metrics-loopback", "/metrics without a key for this machine", "RETINUE_METRICS_LOOPBACK"),
    )
    .addOption(
      limit("--requests-per-second <n>", "per key; 0: no limit", "RETINUE_REQUESTS_PER_SECOND", 2000),
    )
    .addOption(
      limit(
        "--retention-days <n>",
        "ended agents, their logs and audit records are kept so long; 0: for good",
        "RETINUE_RETENTION_DAYS",
        90,
      ),
    )
    .addOption(limit("--max-open-streams <n>", "watches and waits per key", "RETINUE_MAX_OPEN_STREAMS", 1000))
    .addOption(limit("--max-connections <n>", "connections at once", "RETINUE_MAX_CONNECTIONS", 10_000))
    .addOption(
      flag("--log-level <level>", "how much to log", "RETINUE_LOG_LEVEL").choices(LOG_LEVELS).default("info"),
    )
    .addOption(toggle("--test-mode", "allow what would harm a real server", "RETINUE_TEST_MODE").hideHelp())
    .addOption(flag("--failpoints <list>", "point=exit,…", "RETINUE_FAILPOINTS").hideHelp());
}

export function agentConfigFor(command: Command): ProgramsConfig {
  return agentConfigOf(command, process.env);
}

/** Turns what commander parsed into a configuration, or says what does not fit together. */
export function configOf(command: Command): Config {
  const o = command.opts();
  const tls = tlsOf(o);
  if (!isLoopbackHost(o.host) && tls === undefined && !o.insecure) {
    throw new ConfigError(
      `--host ${o.host} can be reached by others: give --tls-cert and --tls-key, or say --insecure`,
    );
  }
  return {
    port: o.port,
    host: o.host,
    data: o.data,
    publicUrl: publicUrlOf(o.publicUrl),
    tls,
    operatorKey: o.operatorKey,
    masterKey: o.masterKey || undefined,
    metricsToLoopback: o.metricsLoopback === true,
    retentionDays: o.retentionDays,
    requestsPerSecond: o.requestsPerSecond,
    maxOpenStreams: o.maxOpenStreams,
    maxConnections: o.maxConnections,
    limits: limitsOf(o),
    logLevel: o.logLevel,
    localRepos: localReposOf(o.localRepos),
    home: homedir(),
    allowUnsandboxed: o.allowUnsandboxed === true,
    agents: agentConfigFor(command),
    allowPrivateWebhooks: o.allowPrivateWebhooks === true,
    failpoints: failpointsOf(o.failpoints, o.testMode === true),
  };
}

function flag(flags: string, description: string, variable: string): Option {
  return new Option(flags, description).env(variable);
}

/** Commander takes any value of the variable for yes; people who write `false` mean no. */
function toggle(flags: string, description: string, variable: string): Option {
  return flag(`${flags} [yes]`, description, variable)
    .argParser((text) => {
      if (["", "0", "false", "no"].includes(text)) return false;
      if (["1", "true", "yes"].includes(text)) return true;
      throw new InvalidArgumentError("must be true or false.");
    })
    .preset("true");
}

function limit(flags: string, description: string, variable: string, value: number): Option {
  return flag(flags, description, variable).argParser(integer(0, 10_000_000)).default(value);
}

function integer(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}.`);
  };
}

function localReposOf(text = ""): readonly string[] {
  const folders = text.split(":").filter((folder) => folder !== "");
  for (const folder of folders) {
    if (!isAbsolute(folder)) throw new ConfigError(`--local-repos: ${folder} is no absolute path`);
  }
  return folders;
}

function publicUrlOf(text: string | undefined): string | undefined {
  if (text === undefined || text === "") return undefined;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new ConfigError(`--public-url ${text} is no address: write it as https://retinue.example.com`);
  }
  return text.replace(/\/+$/, "");
}

/** `after-slot-granted=exit,…`: refused rather than ignored, so that nobody believes a test that tested nothing. */
function failpointsOf(text: string | undefined, testMode: boolean): ReadonlySet<Failpoint> {
  if (!text) return new Set();
  if (!testMode)
    throw new ConfigError("RETINUE_FAILPOINTS ends the server on purpose: it needs RETINUE_TEST_MODE=1");
  return new Set(
    text.split(",").map((entry) => {
      const point = FAILPOINTS.find((name) => entry === `${name}=exit`);
      if (point) return point;
      throw new ConfigError(
        `RETINUE_FAILPOINTS: ${entry} must be one of ${FAILPOINTS.join(", ")}, followed by =exit`,
      );
    }),
  );
}

function tlsOf(o: Record<string, string | undefined>): Config["tls"] {
  if (!o.tlsCert && !o.tlsKey && !o.tlsClientCa) return undefined;
  if (!o.tlsCert || !o.tlsKey) throw new ConfigError("--tls-cert and --tls-key go together");
  const cert = pem("--tls-cert", o.tlsCert, (bytes) => new X509Certificate(bytes));
  const key = pem("--tls-key", o.tlsKey, (bytes) => createPrivateKey(bytes));
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw new ConfigError(`--tls-key: ${o.tlsKey} does not fit the certificate in ${o.tlsCert}`);
  }
  if (!o.tlsClientCa) return { cert, key };
  return {
    cert,
    key,
    clientCa: pem("--tls-client-ca", o.tlsClientCa, (bytes) => new X509Certificate(bytes)),
  };
}

function pem(name: string, file: string, check: (bytes: Buffer) => unknown): Buffer {
  try {
    const bytes = readFileSync(file);
    check(bytes);
    return bytes;
  } catch (error) {
    throw new ConfigError(`${name}: cannot use ${file}: ${(error as Error).message}`);
  }
}

export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
