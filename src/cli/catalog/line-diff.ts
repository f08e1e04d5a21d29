/** A line of a difference: in both, only in the first, only in the second. */
export interface DiffLine {
  readonly sign: " " | "-" | "+";
  readonly text: string;
}

const CONTEXT = 3;
/** Comparing takes room for lines × lines; beyond this the middle counts as replaced. */
const MOST_CELLS = 4_000_000;

/** The difference of two texts in hunks with three lines around them; empty when they are the same. */
export function diffLines(before: string, after: string): DiffLine[][] {
  return hunks(compare(before.split("\n"), after.split("\n")));
}

function compare(a: readonly string[], b: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end])
    end += 1;
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ sign: " ", text }));
  return [
    ...same(a.slice(0, start)),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(a.slice(a.length - end)),
  ];
}

/** By the longest common subsequence. */
function middle(a: readonly string[], b: readonly string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ sign: "-", text });
  const added = (text: string): DiffLine => ({ sign: "+", text });
  if (a.length * b.length > MOST_CELLS) return [...a.map(removed), ...b.map(added)];
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => longest[i * width + j] as number;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ sign: " ", text: a[i] as string });
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push(removed(a[i] as string));
      i += 1;
    } else {
      lines.push(added(b[j] as string));
      j += 1;
    }
  }
  return lines;
}

function hunks(lines: readonly DiffLine[]): DiffLine[][] {
  const near = lines.map((_, at) =>
    lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ sign }) => sign !== " "),
  );
  const found: DiffLine[][] = [];
  lines.forEach((line, at) => {
    if (!near[at]) return;
    if (at === 0 || !near[at - 1]) found.push([]);
    found.at(-1)?.push(line);
  });
  return found;
}
