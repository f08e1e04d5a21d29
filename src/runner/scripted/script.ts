import { walkChecklist } from "./checklist.js";
import { type Directive, endsScript, parseDirectives } from "./directives.js";
import type { Memory, ScriptState } from "./memory.js";
import { perform } from "./perform.js";
import type { Turn } from "./turn.js";

/** A prompt, as far as the script cares for it. */
export interface Request {
  readonly run: number;
  /** Undefined: only the platform speaks. */
  readonly caller: string | undefined;
}

/** Why a turn is cut short when nobody asked for it: the server is gone, or wants the process gone. */
export const PROCESS_ENDS = Symbol("the process ends");

export const BANNER = "[script, no model]";

/** One turn. Throws the signal's reason when it is cut short. */
export async function runScript(turn: Turn, request: Request): Promise<void> {
  const { memory } = turn;
  memory.prompts += 1;
  const { script, goesOn } = scriptFor(memory, request);
  if (script !== undefined) memory.script = script;
  const directives = script === undefined ? [] : parseDirectives(script.text);
  await turn.say(goesOn ? `${BANNER} ${whereFrom(script, directives.length)}` : BANNER);
  try {
    if (script === undefined || directives.length === 0) await withoutDirective(turn, request);
    else await follow(directives, turn, script);
  } finally {
    // A script that was cancelled is over too; one whose process ends is not: the next process goes on with it.
    if (script !== undefined && turn.signal.reason !== PROCESS_ENDS) {
      script.finished = true;
      if (turn.signal.aborted) script.position = directives.length;
    }
    await turn.save();
  }
}

/**
 * A caller's words begin a script. The same words again in the same run are a recovery, and so are the platform's
 * alone while the script is not finished: it goes on. With the same words also when it was finished, since the answer
 * may have been lost; then only its last word is left to be given again.
 */
function scriptFor(
  memory: Memory,
  { run, caller }: Request,
): { script: ScriptState | undefined; goesOn: boolean } {
  const old = memory.script?.run === run ? memory.script : undefined;
  const again =
    caller === undefined ? old?.finished === false : caller === old?.text && (run !== 0 || !old.finished);
  if (old !== undefined && again) return { script: { ...old, finished: false }, goesOn: true };
  if (caller === undefined) return { script: undefined, goesOn: false };
  const usage = { input: 0, output: 0, cached: 0 };
  return {
    script: { run, text: caller, position: 0, finished: false, ignores: false, usage },
    goesOn: false,
  };
}

function whereFrom(script: ScriptState | undefined, count: number): string {
  const position = script?.position ?? 0;
  return position < count || count === 0
    ? `going on at directive ${position + 1}`
    : "all directives were followed already";
}

async function follow(directives: readonly Directive[], turn: Turn, script: ScriptState): Promise<void> {
  for (const [index, directive] of directives.entries()) {
    if (index < script.position) continue;
    turn.signal.throwIfAborted();
    // A crash is behind us once it has happened; all else is begun again.
    script.position = directive.type === "crash" ? index + 1 : index;
    await turn.save();
    await perform(directive, turn, script);
    // Its last word stays where it is: a question or a result whose turn was lost has to be given again.
    if (endsScript(directive)) return;
  }
  script.position = directives.length;
}

async function withoutDirective(turn: Turn, { run }: Request): Promise<void> {
  const { memory } = turn;
  const count = `prompt ${memory.prompts} of this session`;
  await turn.save();
  if (memory.script?.run === run && memory.script.ignores) {
    return turn.say(`There is no directive in ${count}, and @ignore says to leave the checklist alone.`);
  }
  await turn.say(`There is no directive in ${count}, so I go through my checklist.`);
  await walkChecklist(turn);
}
