import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";

/** In a project of your own: `node_modules/.bin/retinue`. */
const RETINUE = fileURLToPath(new URL("../../src/main/retinue.js", import.meta.url));

/** A server with a data folder of its own on a free port, as a test wants it. */
export async function startRetinue() {
  const data = await mkdtemp(join(tmpdir(), "retinue-example-"));
  const server = spawn(process.execPath, [RETINUE, "serve", "--port", "0", "--data", data], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise((resolve) => server.once("exit", resolve));

  let baseUrl = "";
  for await (const line of createInterface({ input: server.stdout })) {
    baseUrl = /listening on (\S+)/.exec(line)?.[1] ?? "";
    if (baseUrl !== "") break;
  }
  if (baseUrl === "") throw new Error("the server did not start");

  // An empty store mints an admin key; every request carries it.
  const key = (await readFile(join(data, "admin.key"), "utf8")).trim();
  const authorize: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${key}`);
    return next(request);
  };
  return {
    transport: createConnectTransport({ baseUrl, httpVersion: "1.1", interceptors: [authorize] }),
    async stop() {
      server.kill("SIGTERM");
      await exited;
      await rm(data, { recursive: true, force: true });
    },
  };
}
