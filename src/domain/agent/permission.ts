import { createHash } from "node:crypto";

/** Something that an agent program wants to do, and asks leave for. */
export interface ToolUse {
  /** As its program calls it; empty where it does not tell. */
  readonly tool: string;
  /** `execute`, `edit`, `read`, `fetch`, `other`, … */
  readonly kind: string;
  readonly input: unknown;
}

const ENTRY = /^([^\s()]{1,200})(?:\((.{1,1000})\))?$/s;

/** By these a shell does more than the one command that a pattern speaks of. */
const SHELL_WORK = /[;&|<>`$(){}\n\r\\]/;

/** Where programs put what a person would look at first. */
const MAIN_INPUTS = ["command", "file_path", "filePath", "path", "url", "query"];

/** What is wrong with an entry of an allow list, in one sentence. */
export function permissionViolation(entry: string): string | undefined {
  return ENTRY.test(entry) ? undefined : "must be NAME or NAME(INPUT), as in Bash(npm test) or edit";
}

/** Whether some entry of the allow list covers the whole of it. */
export function allows(entries: readonly string[], use: ToolUse): boolean {
  return entries.some((entry) => {
    const [, name = "", input] = ENTRY.exec(entry) ?? [];
    if (!matches(name, use.tool) && !matches(name, use.kind)) return false;
    if (input === undefined || input === "*") return true;
    const texts = mainInputs(use.input);
    return texts.length > 0 && texts.every((text) => !isShellWork(use, text) && matches(input, text));
  });
}

/** The same for the same tool with the same input and for nothing else; inputs may be long. */
export function fingerprintOf({ tool, kind, input }: ToolUse): string {
  return createHash("sha256")
    .update(canonical([tool, kind, input]))
    .digest("base64url");
}

/** Whether a caller's message grants what was asked. */
export function grants(message: string): boolean {
  return /^\s*allow\b/i.test(message);
}

function isShellWork({ kind }: ToolUse, text: string): boolean {
  return kind === "execute" && SHELL_WORK.test(text);
}

/** Several for a change of several files. */
function mainInputs(input: unknown): string[] {
  if (typeof input !== "object" || input === null) return [];
  const fields = input as Record<string, unknown>;
  if (Array.isArray(fields.changes)) return fields.changes.flatMap(mainInputs);
  const name = MAIN_INPUTS.find((candidate) => typeof fields[candidate] === "string");
  return name === undefined ? [] : [fields[name] as string];
}

/** `*` stands for any text. Without a regular expression: patterns are callers', and may not take long. */
function matches(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return text === pattern;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** The same text for the same value, whatever the order of its members. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
