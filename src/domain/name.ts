import type { FieldViolation } from "./fault.js";

/** Longest name and path element: what DNS labels, file systems and git refs all take. */
export const NAME_MAX = 63;

const NAME = /^[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?$/;

const RULE =
  `use 1 to ${NAME_MAX} lower-case letters, digits, '.', '_' and '-', ` +
  "beginning and ending with a letter or digit, without '..'";

/** The rule of document names and of the elements of an agent's path. */
export function isName(text: string): boolean {
  // Names become folders and git refs, where `..` climbs or is refused.
  return NAME.test(text) && !text.includes("..");
}

/** What is wrong with a name, told so that a person sees at once what to change. */
export function nameViolation(field: string, text: string): FieldViolation | undefined {
  if (isName(text)) return undefined;
  return { field, description: `${fault(text)}; ${RULE}` };
}

function fault(text: string): string {
  if (text === "") return "required";
  if (text.length > NAME_MAX) return `${text.length} characters are too many`;
  if (text.includes("..")) return `${quoted(text)} contains '..'`;
  const odd = /[^a-z0-9._-]/u.exec(text)?.[0];
  if (odd !== undefined) return `${quoted(text)} contains ${quoted(odd)}`;
  return `${quoted(text)} begins or ends with a character that may stand only in between`;
}

/** Text of a caller as sentences show it: escaped, and cut so that no error is longer than a screen. */
export function quoted(text: string): string {
  const shown = Array.from(text.slice(0, 64));
  return JSON.stringify(shown.length <= 48 && text.length <= 64 ? text : `${shown.slice(0, 48).join("")}…`);
}
