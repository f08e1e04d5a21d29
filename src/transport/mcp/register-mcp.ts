import { type JsonObject, toJson } from "@bufbuild/protobuf";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Fault, permissionDenied } from "../../domain/fault.js";
import { messageFromJson } from "../../domain/message-json.js";
import type { Call, CallGuards } from "../call.js";
import { HttpIncoming } from "../gateway/incoming.js";
import { type Rpc, replyMessage } from "../rpc.js";
import { type McpTool, toolsOf } from "./tools.js";

/** Ours are to be used without asking anybody: agent programs read these hints. */
const ANNOTATIONS = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };

/**
 * The tools of the agents, as MCP over streamable HTTP. Stateless, and one server object per request: nothing of one
 * agent can reach another through it.
 */
export function registerMcp(
  app: FastifyInstance,
  rpcs: Iterable<Rpc>,
  call: Call,
  guards: Pick<CallGuards, "authenticate">,
  version: string,
): void {
  const tools = toolsOf(rpcs);

  app.register(async (scope) => {
    scope.addHook("onRequest", async (request) => {
      // A page in a browser has no business here, whatever its key.
      if (request.headers.origin !== undefined) throw permissionDenied("/mcp is not for browsers");
      await guards.authenticate(request.headers.authorization);
    });
    scope.post("/mcp", async (request, reply) => {
      const incoming = new HttpIncoming(request, reply);
      const server = serverFor(tools, version, (tool, input) =>
        call.unary(tool.rpc, () => messageFromJson(tool.rpc.method.input, input), incoming),
      );
      // Stateless by the absence of a session id generator, which its types do not allow to be undefined.
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
      reply.hijack();
      reply.raw.on("close", () => void server.close());
      await server.connect(transport as never);
      await transport.handleRequest((request as FastifyRequest).raw, reply.raw, request.body);
    });
  });
}

function serverFor(
  tools: ReadonlyMap<string, McpTool>,
  version: string,
  run: (tool: McpTool, input: JsonObject) => ReturnType<Call["unary"]>,
): Server {
  const server = new Server({ name: "retinue", version }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [...tools.values()].map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema: inputSchema as { type: "object" },
      annotations: ANNOTATIONS,
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = tools.get(params.name);
    if (tool === undefined) return refusal(`there is no tool ${params.name}`);
    try {
      const reply = replyMessage(tool.rpc, await run(tool, (params.arguments ?? {}) as JsonObject));
      const value = toJson(tool.rpc.method.output, reply, { alwaysEmitImplicit: true }) as JsonObject;
      return { content: [{ type: "text" as const, text: JSON.stringify(value) }], structuredContent: value };
    } catch (error) {
      // Told to the model, so that it can do better; the call itself went through.
      if (error instanceof Fault) return refusal(error.message);
      throw error;
    }
  });
  return server;
}

function refusal(text: string) {
  return { content: [{ type: "text" as const, text }], isError: true };
}
