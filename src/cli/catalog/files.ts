import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { usageError } from "../exit.js";
import { readText } from "../input.js";
import { type Manifest, manifestsOf } from "./text.js";

const DOCUMENTS = /\.(ya?ml|json|md|markdown)$/i;
/** Files that are about a folder, not in the catalog. */
const ABOUT = /^(readme|changelog|license)\b/i;

/** Every document of these files and folders, folders with all below them; `-` is standard input. */
export function readManifests(paths: readonly string[]): Manifest[] {
  const manifests = paths.flatMap((path) =>
    filesOf(path).flatMap((file) => manifestsOf(readText(file), file)),
  );
  if (manifests.length === 0)
    throw usageError(
      `there is no document in ${paths.join(", ")}`,
      "documents are .yaml, .json and .md files",
    );
  return manifests;
}

function filesOf(path: string): string[] {
  if (path === "-" || !statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && DOCUMENTS.test(entry.name) && !ABOUT.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
