import { StringDecoder } from "node:string_decoder";
import type { CommandResult, CommandSpec } from "../runner.js";
import type { AgentProcess } from "./agent-process.js";

/** Follows a command that was started to its end, its time-out or its abort; nothing of it is left then. */
export async function followCommand(started: AgentProcess, spec: CommandSpec): Promise<CommandResult> {
  let ended: CommandResult["ended"] = "exited";
  const cut = (why: "timeout" | "aborted") => {
    ended = why;
    started.kill().catch(() => {});
  };
  const timer = setTimeout(cut, spec.timeoutMs, "timeout");
  const onAbort = () => cut("aborted");
  spec.signal.addEventListener("abort", onAbort, { once: true });
  if (spec.signal.aborted) onAbort();
  const decoder = new StringDecoder("utf8");
  started.stdin.end();
  started.stdout.on("data", (chunk: Buffer) => {
    started.guard.count(chunk.length);
    spec.onOutput(decoder.write(chunk));
  });
  const { code } = await started.exited;
  clearTimeout(timer);
  spec.signal.removeEventListener("abort", onAbort);
  return { ended, code: code ?? -1 };
}
