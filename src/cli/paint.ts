const CODES = {
  bold: 1,
  dim: 2,
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36,
} as const;

export type Colour = keyof typeof CODES;
/** Puts a text into a colour; leaves it as it is where colours are not wanted. */
export type Paint = (colour: Colour | undefined, text: string) => string;

export function createPaint(colours: boolean): Paint {
  return (colour, text) =>
    !colours || colour === undefined || text === "" ? text : `\u001b[${CODES[colour]}m${text}\u001b[0m`;
}
