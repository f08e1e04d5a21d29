import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// biome-ignore lint/suspicious/noExplicitAny: tests look into JSON of every shape
type Json = any;

/** A server that is going to be killed. */
export interface Victim {
  /** Undefined: nobody answered, so nobody knows. */
  post(path: string, body: object): Promise<{ status: number; body: Json } | undefined>;
  end(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
}

const RETINUE = fileURLToPath(new URL("../../src/main/retinue.js", import.meta.url));
const START_MS = 120_000;

export async function startVictim(dataDir: string): Promise<Victim> {
  const child = spawn(process.execPath, [RETINUE, "serve", "--port", "0", "--data", dataDir], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  let said = "";
  child.stderr.on("data", (chunk) => {
    said = (said + chunk).slice(-10_000);
  });
  const url = await new Promise<string>((resolve, reject) => {
    let out = "";
    const late = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`not ready in ${START_MS} ms: ${said}`));
    }, START_MS);
    child.stdout.on("data", (chunk) => {
      out += chunk;
      const [, found] = /^listening on (\S+)\n/m.exec(out) ?? [];
      if (found === undefined) return;
      clearTimeout(late);
      resolve(found);
    });
    void exited.then(([code]) => reject(new Error(`the server ended (${code}): ${said}`)));
  });
  const headers = {
    authorization: `Bearer ${readFileSync(join(dataDir, "admin.key"), "utf8").trim()}`,
    "content-type": "application/json",
  };
  return {
    async post(path, body) {
      try {
        const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
        return { status: response.status, body: await response.json() };
      } catch {
        return undefined;
      }
    },
    async end(signal) {
      child.kill(signal);
      await exited;
    },
  };
}
