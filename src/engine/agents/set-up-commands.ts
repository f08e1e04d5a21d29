import { durationMs } from "@bufbuild/protobuf/wkt";
import type { Environment, SetupCommand } from "../../../gen/retinue/v1/catalog_pb.js";
import type { Runner, Surroundings } from "../../runner/runner.js";
import { fatal, RunnerError } from "../../runner/runner-error.js";
import type { SetupStep } from "../../runner/workspaces.js";

const DEFAULT_MS = 10 * 60_000;
/** Told of one command; what follows is cut, its end excepted. */
const TOLD_CHARACTERS = 256 * 1024;
const TAIL_CHARACTERS = 2000;
const PIECE_MS = 500;
const PIECE_CHARACTERS = 8 * 1024;

export interface CommandsRun {
  readonly runner: Runner;
  readonly environment: Environment;
  readonly surroundings: Surroundings;
  readonly signal: AbortSignal;
  readonly onStep: (step: SetupStep) => void;
}

/** Runs the commands of an environment, in order; the first that fails fails the agent. */
export async function runSetUpCommands(run: CommandsRun): Promise<void> {
  for (const command of run.environment.setupCommands) await runOne(run, command);
}

async function runOne({ runner, surroundings, signal, onStep }: CommandsRun, command: SetupCommand) {
  const name = command.name || command.run.trim().slice(0, 60);
  const timeoutMs = command.timeout ? durationMs(command.timeout) : DEFAULT_MS;
  onStep({ name, state: "started", output: "" });
  const pieces = inPieces((output) => onStep({ name, state: "output", output }));
  const result = await runner.run({
    ...surroundings,
    command: command.run,
    timeoutMs,
    signal,
    onOutput: pieces.add,
  });
  pieces.end();
  if (result.ended === "aborted")
    throw new RunnerError({
      kind: "start_aborted",
      message: "the start was given up",
      retryable: true,
      fatal: false,
    });
  if (result.ended === "exited" && result.code === 0) {
    onStep({ name, state: "done", output: "" });
    return;
  }
  const how =
    result.ended === "timeout" ? `took longer than ${timeoutMs / 1000} s` : `ended with code ${result.code}`;
  const tail = pieces.tail().trim();
  const cause = `${how}${tail === "" ? "" : `: ${tail}`}`;
  onStep({ name, state: "failed", output: cause });
  throw new RunnerError(fatal("workspace_setup", `set-up command "${name}" ${cause}`));
}

/** Output as events: whole lines where it can be, not more than twice a second, not for ever. */
function inPieces(tell: (output: string) => void) {
  let pending = "";
  let told = 0;
  let end = "";
  let timer: NodeJS.Timeout | undefined;
  const flush = (all: boolean) => {
    clearTimeout(timer);
    timer = undefined;
    const cut = all || pending.length > PIECE_CHARACTERS ? pending.length : pending.lastIndexOf("\n") + 1;
    const piece = pending.slice(0, cut);
    pending = pending.slice(cut);
    if (piece === "" || told > TOLD_CHARACTERS) return;
    told += piece.length;
    tell(told > TOLD_CHARACTERS ? `${piece}\n(the rest is not shown)\n` : piece);
  };
  return {
    add(text: string) {
      pending += text;
      end = (end + text).slice(-TAIL_CHARACTERS);
      if (pending.length > PIECE_CHARACTERS) flush(false);
      else timer ??= setTimeout(flush, PIECE_MS, false);
    },
    end: () => flush(true),
    tail: () => end,
  };
}
