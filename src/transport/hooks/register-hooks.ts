import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Codehost } from "../../engine/automation/codehost.js";
import { createErrorHandler, type ErrorLog } from "../gateway/envelope.js";

/** A delivery is a comment and what it is about; code hosts cut theirs at 25 MiB, of which none is text. */
const MAX_DELIVERY_BYTES = 1 << 20;

/**
 * Where code hosts deliver. Not an RPC: the caller is a machine without a key, and what proves a delivery is its
 * signature over the very bytes that were sent, so the body stays bytes.
 */
export function registerHooks(app: FastifyInstance, codehost: Codehost, log: ErrorLog): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      "*",
      { parseAs: "buffer", bodyLimit: MAX_DELIVERY_BYTES },
      (_request, body, done) => done(null, body),
    );
    scope.setErrorHandler(createErrorHandler(log));
    scope.post<{ Params: { id: string } }>("/hooks/:id", async (request, reply) => {
      const outcome = await codehost.receive({
        hookId: request.params.id,
        signature: header(request, "x-hub-signature-256"),
        event: header(request, "x-github-event"),
        deliveryId: header(request, "x-github-delivery"),
        body: (request.body as Buffer | undefined) ?? Buffer.alloc(0),
      });
      return reply.code(outcome.queued ? 202 : 200).send(outcome);
    });
  });
}

function header({ headers }: FastifyRequest, name: string): string {
  const value = headers[name];
  return typeof value === "string" ? value : "";
}
