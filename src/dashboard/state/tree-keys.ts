import type { Row } from "./tree.js";

/** Where a key leads in the tree, as trees do it everywhere. */
export function rowAfterKey(
  key: string,
  rows: readonly Row[],
  at: number,
  toggle: (row: Row, open: boolean) => void,
): number | undefined {
  const row = rows[at];
  const last = rows.length - 1;
  if (key === "ArrowDown") return Math.min(last, at + 1);
  if (key === "ArrowUp") return Math.max(0, at - 1);
  if (key === "Home") return 0;
  if (key === "End") return last;
  if (key === "PageDown") return Math.min(last, at + 15);
  if (key === "PageUp") return Math.max(0, at - 15);
  if (row === undefined) return undefined;
  if (key === "ArrowRight") {
    if (row.children > 0 && !row.open) toggle(row, true);
    return row.open ? at + 1 : at;
  }
  if (key === "ArrowLeft") {
    if (row.open) toggle(row, false);
    else for (let i = at; i >= 0; i--) if ((rows[i]?.level ?? 0) < row.level) return i;
    return at;
  }
  return undefined;
}
