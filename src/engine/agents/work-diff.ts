/** What a diff says, taken apart. */
export interface DiffText {
  readonly headCommit: string;
  readonly baseCommit: string;
  readonly uncommitted: boolean;
  readonly files: readonly FileDiff[];
  readonly diff: string;
  readonly truncated: boolean;
}

export interface FileDiff {
  readonly path: string;
  readonly additions: number;
  readonly deletions: number;
  readonly binary: boolean;
}

const MAX_FILES = 5000;
const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/** A line with commits, git's numbers per file, the mark on a line of its own, and the diff. */
export function parseDiff(output: string, mark: string, maxBytes: number): DiffText {
  const at = output.indexOf(`\n${mark}\n`);
  const [commits = "", ...numbers] = output.slice(0, at).split("\n");
  const [headCommit = "", baseCommit = "", dirty] = commits.split(" ");
  const text = output.slice(at + mark.length + 2);
  const tooLong = Buffer.byteLength(text) > maxBytes;
  return {
    headCommit,
    baseCommit: baseCommit === EMPTY_TREE ? "" : baseCommit,
    uncommitted: dirty === "1",
    files: numbers.slice(0, MAX_FILES).map(fileOf),
    // Whole lines: a character cut in two would be no text.
    diff: tooLong ? text.slice(0, text.lastIndexOf("\n") + 1) : text,
    truncated: tooLong || numbers.length > MAX_FILES,
  };
}

function fileOf(line: string): FileDiff {
  const [additions = "", deletions = "", ...path] = line.split("\t");
  return {
    path: path.join("\t"),
    additions: Number(additions) || 0,
    deletions: Number(deletions) || 0,
    binary: additions === "-",
  };
}
