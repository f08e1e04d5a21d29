import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Context } from "../contexts.js";
import { CliError, EXIT } from "../exit.js";

export interface OwnServer extends Context {
  readonly keyFile: string;
  stop(): Promise<void>;
}

/** Starts this program's own server on a free port, with data that are gone when it stops. */
export async function startOwnServer(): Promise<OwnServer> {
  const folder = mkdtempSync(join(tmpdir(), "retinue-demo-"));
  const data = join(folder, "data");
  const program = process.argv[1] as string;
  const child = spawn(
    process.execPath,
    [program, "serve", "--port", "0", "--data", data, "--log-level", "error"],
    {
      stdio: ["ignore", "pipe", "pipe"],
      // Ctrl-C is for the one who watches; the server is stopped afterwards, in good order.
      detached: true,
    },
  );
  const killAtExit = () => void child.kill("SIGKILL");
  process.once("exit", killAtExit);
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const url = await listening(child);
  const keyFile = join(data, "admin.key");
  return {
    url,
    key: readFileSync(keyFile, "utf8").trim(),
    keyFile,
    async stop() {
      child.kill("SIGTERM");
      await ended;
      process.off("exit", killAtExit);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      said += chunk;
    });
    child.once("error", reject);
    child.once("close", () =>
      reject(new CliError(`the demo's server did not start: ${said.trim()}`, EXIT.failed)),
    );
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on("line", (line) => {
      const url = /^listening on (\S+)$/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}
