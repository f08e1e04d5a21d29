import { readFileSync } from "node:fs";

/** The one place that says it is package.json; compiled files lie three folders below it. */
const file = new URL("../../../package.json", import.meta.url);

export const VERSION: string = JSON.parse(readFileSync(file, "utf8")).version;
