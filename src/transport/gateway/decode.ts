import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { Readable } from "node:stream";
import type { JsonValue } from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Fault, malformed } from "../../domain/fault.js";
import { quoted } from "../../domain/name.js";
import { MAX_REQUEST_BYTES } from "../limits.js";
import { parseJson } from "./json-text.js";
import type { Route } from "./rule.js";

const JSON_TYPE = /^application\/json[\t ]*(?:;[\t ]*charset="?utf-?8"?[\t ]*)?;?$/i;

/** Makes `request.body` the bytes of a JSON body, undefined where there is none, and refuses every other type. */
export function addBodyParsers(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  const options = { parseAs: "buffer", bodyLimit: MAX_REQUEST_BYTES } as const;
  scope.addContentTypeParser<Buffer>("application/json", options, (request, body, done) => {
    if (body.length === 0) done(null);
    else done(wrongEncoding(request), body);
  });
  // Only the first bytes tell whether there is a body at all: HTTP/2 needs no content-length.
  scope.addContentTypeParser("*", (request, payload, done) => {
    anyData(payload).then((found) => done(found ? unsupported(request.headers) : null), done);
  });
}

/** Whether a stream brings any data; what comes after the first is thrown away. */
function anyData(payload: Readable): Promise<boolean> {
  return new Promise((resolve, reject) => {
    payload.on("data", (chunk: Buffer) => chunk.length > 0 && resolve(true));
    payload.once("end", () => resolve(false));
    payload.once("error", reject);
  });
}

export function unsupported(headers: IncomingHttpHeaders): Fault {
  const type = headers["content-type"];
  const what = type === undefined ? "a body without a content-type" : `the content-type ${quoted(type)}`;
  return malformed(`${what} is not taken: send 'content-type: application/json'`, "UNSUPPORTED_MEDIA_TYPE");
}

function wrongEncoding({ headers }: FastifyRequest): Fault | null {
  const type = headers["content-type"];
  if (type !== "application/json" && !JSON_TYPE.test(type ?? "")) return unsupported(headers);
  const coding = headers["content-encoding"];
  if (coding === undefined || coding === "identity") return null;
  return malformed(
    `the content-encoding ${quoted(coding)} is not taken: send plain JSON`,
    "UNSUPPORTED_MEDIA_TYPE",
  );
}

/** The body that a route's rule asks for, as JSON; undefined for a route that takes none. */
export function readBody(route: Route, request: FastifyRequest): JsonValue | undefined {
  const bytes = request.body as Buffer | undefined;
  if (route.body !== "none") return bytes === undefined ? {} : parseJson(bytes);
  // Ignoring it would turn a delete with a precondition into one without.
  if (bytes !== undefined && bytes.toString().trim() !== "{}") {
    throw malformed(
      `${route.httpMethod} ${route.template.text} takes no body: send its fields as query parameters`,
      "UNEXPECTED_BODY",
    );
  }
  return undefined;
}

/**
 * Fastify takes a request with neither content-type nor content-length for empty, which is right in HTTP/1.1 only.
 * Returns undefined where there is nothing to wait for.
 */
export function awaitUntypedBody(request: FastifyRequest): Promise<void> | undefined {
  const raw = request.raw as IncomingMessage | Http2ServerRequest;
  if (raw.httpVersionMajor < 2 || request.headers["content-type"] !== undefined) return undefined;
  const { stream } = raw as Http2ServerRequest;
  if (request.body !== undefined || stream.endAfterHeaders) return undefined;
  return anyData(raw).then((found) => {
    if (found) throw unsupported(request.headers);
  });
}
