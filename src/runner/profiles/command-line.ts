/** The words of a command line: blanks part them, quotes and backslashes keep them together. No shell is involved. */
export function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [whole] of line.matchAll(/(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+/gs)) {
    words.push(whole.replaceAll(/"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/gs, unquoted));
  }
  return words;
}

function unquoted(_: string, double?: string, single?: string, escaped?: string): string {
  return double?.replaceAll(/\\(["\\])/g, "$1") ?? single ?? escaped ?? "";
}
