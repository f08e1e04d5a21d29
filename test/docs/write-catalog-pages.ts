// Writes the pages of docs/catalog; `npm run docs` runs it, and a test says when that was forgotten.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { KINDS } from "../../src/domain/catalog/kinds/index.js";
import { catalogPage } from "./catalog-page.js";

const folder = fileURLToPath(new URL("../../../docs/catalog/", import.meta.url));
for (const kind of KINDS.values()) writeFileSync(`${folder}${kind.name}.md`, catalogPage(kind));
