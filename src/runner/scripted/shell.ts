import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { endProcesses, signal as sendSignal } from "../processes/hunt.js";

export interface ShellResult {
  readonly output: string;
  readonly failed: boolean;
}

const MARK = "RETINUE_SCRIPT_RUN";
const OUTPUT_LIMIT = 64 * 1024;
/** The mark goes into the environment of a second shell, so that whatever it starts can be found by it. */
const WRAPPER = `${MARK}="$1"; export ${MARK}; exec /bin/sh -c "$2"`;

/**
 * Runs a shell command to its end, which is when nobody holds its output any more: a command that goes on in the
 * background holds it up, as in `$(…)`. An abort ends everything that it started, setsid or not, and then rejects.
 */
export function runShell(command: string, cwd: string, signal: AbortSignal): Promise<ShellResult> {
  signal.throwIfAborted();
  const mark = randomUUID();
  const child = spawn("/bin/sh", ["-c", WRAPPER, "sh", mark, command], {
    cwd,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const chunks: Buffer[] = [];
  let length = 0;
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      if (length < OUTPUT_LIMIT) chunks.push(chunk.subarray(0, OUTPUT_LIMIT - length));
      length += chunk.length;
    });
  }
  return new Promise((resolve, reject) => {
    const onAbort = async () => {
      if (child.pid !== undefined) sendSignal(-child.pid, "SIGKILL");
      await endProcesses({ variable: MARK, values: new Set([mark]) }).catch(() => {});
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    child.once("error", reject);
    child.once("close", (code, signalName) => {
      // An abort has the last word, after it has looked for what is left.
      if (signal.aborted) return;
      signal.removeEventListener("abort", onAbort);
      const text = Buffer.concat(chunks).toString("utf8").trimEnd();
      const cut = length > OUTPUT_LIMIT ? `\n(cut after ${OUTPUT_LIMIT} of ${length} bytes)` : "";
      const how = signalName === null ? `code ${code}` : signalName;
      const end = code === 0 ? "" : `\n(ended with ${how})`;
      resolve({ output: `${text}${cut}${end}`.trim(), failed: code !== 0 });
    });
  });
}
