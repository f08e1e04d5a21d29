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

export const BANNER = "[script, no model]";

/** One turn. Throws the signal's reason when it is cut short. */
export async function runScript(turn: Turn, request: Request): Promise<void> {
  const { memory } = turn;
  memory.prompts += 1;
  const { script, goesOn } = scriptFor(memory, request);
  if (script !== undefined) memory.script = script;
  await turn.say(goesOn ? `${BANNER} going on at directive ${(script?.position ?? 0) + 1}` : BANNER);
  const directives = script === undefined ? [] : parseDirectives(script.text);
  try {
    if (script === undefined || directives.length === 0) await withoutDirective(turn, request);
    else await follow(directives, turn, script);
  } finally {
    // A script that was cut short is over too: only a lost process leaves one to go on with.
    if (script !== undefined) script.finished = true;
    await turn.save();
  }
}

/**
 * A caller's words begin a script. The same words again in the same run, or the platform's alone, go on with one that
 * a lost process left behind: that is a recovery.
 */
function scriptFor(
  memory: Memory,
  { run, caller }: Request,
): { script: ScriptState | undefined; goesOn: boolean } {
  const old = memory.script?.run === run ? memory.script : undefined;
  if (old !== undefined && !old.finished && (caller === undefined || caller === old.text)) {
    return { script: old, goesOn: true };
  }
  if (caller === undefined) return { script: undefined, goesOn: false };
  const usage = { input: 0, output: 0, cached: 0 };
  return {
    script: { run, text: caller, position: 0, finished: false, ignores: false, usage },
    goesOn: false,
  };
}

async function follow(directives: readonly Directive[], turn: Turn, script: ScriptState): Promise<void> {
  for (const [index, directive] of directives.entries()) {
    if (index < script.position) continue;
    turn.signal.throwIfAborted();
    // A crash is behind us once it has happened; all else is begun again.
    script.position = directive.type === "crash" ? index + 1 : index;
    await turn.save();
    await perform(directive, turn, script);
    if (endsScript(directive)) return;
  }
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
