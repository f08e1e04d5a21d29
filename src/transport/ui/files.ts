import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";

/** A file of the page, as it is sent. */
export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
}

/** What the build makes, and nothing else. */
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Every file below the folder by its path; read once, so that no request ever reaches the file system. */
export function readPageFiles(folder: string): ReadonlyMap<string, PageFile> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    entries.map((entry) => {
      const file = join(entry.parentPath, entry.name);
      const type = TYPES[extname(entry.name)];
      if (type === undefined) throw new Error(`the page holds a file of unknown type: ${file}`);
      return [
        file.slice(folder.length).replaceAll("\\", "/").replace(/^\//, ""),
        { type, bytes: readFileSync(file) },
      ];
    }),
  );
}
