/**
 * Globs over file paths, as a small program of steps that is run over all positions at once: time grows with
 * length of pattern × length of path and cannot explode, whatever a caller writes.
 *
 * `*` and `?` and `[]` stop at `/`; `**` as a whole path element spans any number of elements, none
 * included; `{a,b}` are alternatives and may be nested; `\` takes the next character as it is. The whole path
 * must match; hidden files are files like any other.
 */
export type Glob = readonly Step[];

type Step =
  | { readonly op: "char"; readonly test: (char: string) => boolean }
  | { readonly op: "fork"; readonly to: readonly number[] };

const PATTERN_LENGTH = 256;

/** What is wrong with a pattern; undefined when it can be used. Empty stands for any file. */
export function patternViolation(pattern: string): string | undefined {
  if (pattern.length > PATTERN_LENGTH) return `longer than ${PATTERN_LENGTH} characters`;
  const compiled = compile(pattern);
  return typeof compiled === "string" ? compiled : undefined;
}

/** Whether any of the files matches. */
export function matchesAny(pattern: string, files: readonly string[]): boolean {
  if (pattern === "") return files.length > 0;
  const glob = compile(pattern);
  return typeof glob !== "string" && files.some((file) => matches(glob, file));
}

export function matches(glob: Glob, path: string): boolean {
  let states = closure(glob, [0]);
  for (const char of path) {
    const next: number[] = [];
    for (const state of states) {
      const step = glob[state];
      if (step?.op === "char" && step.test(char)) next.push(state + 1);
    }
    states = closure(glob, next);
    if (states.size === 0) return false;
  }
  return states.has(glob.length);
}

function closure(glob: Glob, from: readonly number[]): Set<number> {
  const states = new Set<number>();
  const open = [...from];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    if (states.has(state)) continue;
    states.add(state);
    const step = glob[state];
    if (step?.op === "fork") open.push(...step.to);
  }
  return states;
}

const notSlash = (char: string) => char !== "/";
const anything = () => true;

/** The program, or the sentence that says why there is none. */
export function compile(pattern: string): Glob | string {
  const chars = [...pattern];
  const steps: Step[] = [];
  /** Open groups: where their fork stands, where each alternative begins, and the jumps to their end. */
  const groups: { fork: number; alternatives: number[]; jumps: number[] }[] = [];
  const char = (test: (c: string) => boolean) => steps.push({ op: "char", test });
  const star = (test: (c: string) => boolean) => {
    const at = steps.length;
    steps.push({ op: "fork", to: [at + 1, at + 3] });
    char(test);
    steps.push({ op: "fork", to: [at] });
  };
  const startsElement = (i: number) => [undefined, "/", "{", ","].includes(chars[i - 1]);
  for (let i = 0; i < chars.length; i++) {
    const c = chars[i] as string;
    const group = groups.at(-1);
    if (c === "\\") {
      const literal = chars[++i];
      if (literal === undefined) return "ends with a '\\' that escapes nothing";
      char((other) => other === literal);
    } else if (c === "*" && chars[i + 1] === "*") {
      const whole = startsElement(i) && [undefined, "/", ",", "}"].includes(chars[i + 2]);
      if (whole && chars[i + 2] === "/") {
        // `**/`: nothing at all, or anything up to a slash.
        const at = steps.length;
        steps.push({ op: "fork", to: [at + 1, at + 5] });
        star(anything);
        char((other) => other === "/");
        i += 2;
      } else {
        star(whole ? anything : notSlash);
        i += 1;
      }
    } else if (c === "*") {
      star(notSlash);
    } else if (c === "?") {
      char(notSlash);
    } else if (c === "[") {
      const end = classEnd(chars, i);
      if (end === undefined) return "has a '[' without its ']'";
      char(classTest(chars.slice(i + 1, end)));
      i = end;
    } else if (c === "{") {
      groups.push({ fork: steps.length, alternatives: [steps.length + 1], jumps: [] });
      steps.push({ op: "fork", to: [] });
    } else if (c === "," && group !== undefined) {
      group.jumps.push(steps.length);
      steps.push({ op: "fork", to: [] });
      group.alternatives.push(steps.length);
    } else if (c === "}" && group !== undefined) {
      groups.pop();
      steps[group.fork] = { op: "fork", to: group.alternatives };
      for (const jump of group.jumps) steps[jump] = { op: "fork", to: [steps.length] };
    } else {
      char((other) => other === c);
    }
  }
  return groups.length > 0 ? "has a '{' without its '}'" : steps;
}

/** A `]` right after `[` or `[!` is one of the characters, as in a shell. */
function classEnd(chars: readonly string[], open: number): number | undefined {
  const first = chars[open + 1] === "!" || chars[open + 1] === "^" ? open + 2 : open + 1;
  const end = chars.indexOf("]", first + 1);
  return end === -1 ? undefined : end;
}

function classTest(body: readonly string[]): (char: string) => boolean {
  const negated = body[0] === "!" || body[0] === "^";
  const items = negated ? body.slice(1) : body;
  const ranges: [string, string][] = [];
  for (let i = 0; i < items.length; i++) {
    const from = items[i] as string;
    const to = items[i + 2];
    if (items[i + 1] === "-" && to !== undefined) {
      ranges.push([from, to]);
      i += 2;
    } else {
      ranges.push([from, from]);
    }
  }
  return (char) => char !== "/" && ranges.some(([from, to]) => from <= char && char <= to) !== negated;
}
