import { invalidField } from "../domain/fault.js";

export const DEFAULT_PAGE_SIZE = 50;
export const MAX_PAGE_SIZE = 200;

/** 0 asks for the default; more than the most there is gets the most there is. */
export function pageSizeOf(asked: number): number {
  if (asked < 0) throw invalidField("pageSize", `must be 0 or more, not ${asked}`);
  return asked === 0 ? DEFAULT_PAGE_SIZE : Math.min(asked, MAX_PAGE_SIZE);
}

/** Tokens say where the page before ended; they are opaque so that this can change. */
export function encodePageToken(last: string): string {
  return Buffer.from(last, "utf8").toString("base64url");
}

export function decodePageToken(token: string): string {
  const last = Buffer.from(token, "base64url").toString("utf8");
  if (encodePageToken(last) !== token)
    throw invalidField("pageToken", "is not one that this server gave out");
  return last;
}

/** Most clients of gRPC take messages of 4 MiB; a page of large documents ends before that. */
const MAX_PAGE_BYTES = 3 * 1024 * 1024;

/** One row more than the page was asked for, or than fits: there is another page. */
export function cutPage<T>(
  rows: readonly T[],
  size: number,
  cursor: (row: T) => string,
  bytesOf: (row: T) => number = () => 0,
) {
  let bytes = 0;
  const fitting = rows.findIndex((row, i) => {
    bytes += bytesOf(row);
    return i > 0 && bytes > MAX_PAGE_BYTES;
  });
  const page = rows.slice(0, fitting === -1 ? size : Math.min(size, fitting));
  const last = page.at(-1);
  return {
    page,
    nextPageToken: rows.length > page.length && last !== undefined ? encodePageToken(cursor(last)) : "",
  };
}
