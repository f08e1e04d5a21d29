import { type Fault, invalidField } from "./fault.js";
import { quoted } from "./name.js";

export const JSON_DEPTH_MAX = 100;

/** An object or array that is open at some place of the text. */
interface Level {
  /** Names seen so far; undefined in an array. */
  readonly names: Set<string> | undefined;
  /** The name or index that the text is at, as a path writes it. */
  place: string | number;
}

/**
 * Refuses nesting beyond the limit, before it costs anything, and names that come twice, of which JSON.parse would
 * keep the last. Wrong JSON is none of its business: it reads on as well as it can.
 *
 * @param root what the text is, in the paths of faults; empty for a whole request
 */
export function inspectJson(text: string, root: string, tooDeep: () => Fault): void {
  const open: Level[] = [];
  let level: Level | undefined;
  let nameComes = false;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x7b: // {
      case 0x5b: // [
        nameComes = text.charCodeAt(i) === 0x7b;
        level = nameComes ? { names: new Set(), place: "" } : { names: undefined, place: 0 };
        if (open.push(level) > JSON_DEPTH_MAX) throw tooDeep();
        break;
      case 0x7d: // }
      case 0x5d: // ]
        open.pop();
        level = open[open.length - 1];
        nameComes = false;
        break;
      case 0x2c: // ,
        nameComes = level?.names !== undefined;
        if (typeof level?.place === "number") level.place += 1;
        break;
      case 0x22: {
        const end = closingQuote(text, i);
        if (end === -1) return;
        if (nameComes && level?.names) {
          level.place = nameOf(text, i, end);
          if (level.names.has(level.place)) throw invalidField(pathOf(root, open), "given twice");
          level.names.add(level.place);
        }
        nameComes = false;
        i = end;
        break;
      }
    }
  }
}

/** Strings are most of a large body: they are jumped over, not walked through. */
function closingQuote(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return -1;
}

function nameOf(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end);
  if (!raw.includes("\\")) return raw;
  try {
    return JSON.parse(text.slice(start, end + 1)) as string;
  } catch {
    return raw;
  }
}

function pathOf(root: string, open: readonly Level[]): string {
  const places = open.map(({ place }) =>
    typeof place === "number" ? `[${place}]` : `.${/^[\w-]{1,64}$/.test(place) ? place : quoted(place)}`,
  );
  return `${root}${places.join("")}`.replace(/^\./, "");
}
