import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply } from "fastify";
import { notFoundHandler } from "../gateway/index.js";
import { type PageFile, readPageFiles } from "./files.js";

/** Where the build puts the page. */
const FOLDER = fileURLToPath(new URL("../../dashboard/", import.meta.url));

/** The page runs its own files and talks to this server; it shows what agents write, so nothing else may load. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

const HEADERS = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/** Names of assets carry a hash of their content; the document that names them does not. */
const FOR_EVER = "public, max-age=31536000, immutable";
const ASK_AGAIN = "no-cache";

/** The page at `/ui`: its files need no key, whatever they show does. */
export function registerUi(app: FastifyInstance, folder: string = FOLDER): void {
  const files = readPageFiles(folder);
  const document = files.get("index.html");
  if (document === undefined) throw new Error(`the page is not built: ${folder} has no index.html`);

  const send = (reply: FastifyReply, file: PageFile, cacheControl: string) =>
    reply.headers(HEADERS).header("cache-control", cacheControl).type(file.type).send(file.bytes);

  app.get("/ui", (_request, reply) => send(reply, document, ASK_AGAIN));
  app.get<{ Params: { "*": string } }>("/ui/*", (request, reply) => {
    const path = request.params["*"];
    const file = files.get(path);
    if (file !== undefined) return send(reply, file, path.startsWith("assets/") ? FOR_EVER : ASK_AGAIN);
    // An asset of another build; the document in its place would be run as a script.
    if (path.startsWith("assets/")) return notFoundHandler(request, reply);
    // Any other path is a place within the page.
    return send(reply, document, ASK_AGAIN);
  });
}
