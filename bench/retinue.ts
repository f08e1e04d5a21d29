import { readFileSync } from "node:fs";
import { join } from "node:path";
import { probe } from "./probe.js";
import { type ServerProcess, startServer } from "./process.js";
import { KIND } from "./requests.js";

/** The real program, with a data folder of its own. */
export interface RetinueProcess extends ServerProcess {
  readonly key: string;
  /** Sum of the generations of all written documents: one more for each write that changed something. */
  generations(): Promise<number>;
  /** Calls that did not succeed, by the server's own count: a line of `/metrics` for each method and code. */
  failedCalls(): Promise<string[]>;
}

export async function startRetinue(
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
): Promise<RetinueProcess> {
  const args = [
    "serve",
    "--port",
    "0",
    "--data",
    dataDir,
    "--requests-per-second",
    "0",
    "--log-level",
    "error",
    ...flags,
  ];
  const server = await startServer("../src/main/retinue.js", args, env);
  const key = readFileSync(join(dataDir, "admin.key"), "utf8").trim();
  const get = (path: string) => probe(server.port, { protocol: "http1", paths: [path] }, key);
  return {
    ...server,
    key,
    async generations() {
      const { entries } = JSON.parse(String(await get(`/v1/catalog/${KIND}`))) as {
        entries: { generation: string }[];
      };
      return entries.reduce((sum, { generation }) => sum + Number(generation), 0);
    },
    async failedCalls() {
      const text = String(await get("/metrics"));
      return text.match(/^retinue_rpc_duration_seconds_count\{.*code="(?!OK").*$/gm) ?? [];
    },
  };
}
