import type { FastifyReply, FastifyRequest } from "fastify";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import { Fault } from "../../domain/fault.js";
import { pathNotFound, sendFault } from "./envelope.js";
import { matchesPath } from "./path-template.js";
import type { Route } from "./rule.js";

/** Answers what no route took: a path that is served for other methods, or one that is not served at all. */
export function createNotFound(
  routes: readonly Route[],
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  return async (request, reply) => {
    const allowed = methodsAt(routes, request.url);
    if (allowed.length === 0) return sendFault(reply, pathNotFound(request.url));
    const list = allowed.join(", ");
    return sendFault(
      reply.header("allow", list),
      new Fault(
        Code.UNIMPLEMENTED,
        "METHOD_NOT_ALLOWED",
        `${request.method} is not possible here; allowed: ${list}`,
        {
          metadata: { allowed: list },
        },
      ),
    );
  };
}

function methodsAt(routes: readonly Route[], url: string): string[] {
  const parts = partsOf(url);
  const methods = new Set<string>();
  for (const { template, httpMethod, rpc } of routes) {
    if (!matchesPath(template, parts)) continue;
    methods.add(httpMethod);
    if (httpMethod === "GET" && rpc.method.methodKind === "unary") methods.add("HEAD");
  }
  return [...methods].sort();
}

function partsOf(url: string): string[] {
  // A request to a proxy names the host too: GET http://host/v1/whoami.
  const path = url.replace(/[?#].*/s, "").replace(/^[a-z][a-z+.-]*:\/\/[^/]*/i, "");
  // The router has decoded it before: a malformed one does not come here.
  return path.split("/").slice(1).map(decodeURIComponent);
}
