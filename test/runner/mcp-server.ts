import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { cleanUp } from "../support/cleanup.js";

export interface ToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly authorization: string | undefined;
}

/** Answers a call; what it throws is a refusal. Undefined: an empty answer. */
export type ToolHandler = (call: ToolCall, signal: AbortSignal) => unknown;

export interface TestMcp {
  readonly url: string;
  readonly calls: ToolCall[];
  /** Named calls since the last time, as [name, arguments]. */
  take(): (readonly [string, ToolCall["args"]])[];
  handle(handler: ToolHandler): void;
}

/** The platform's side of the tools: the official server, stateless, one server object per request. */
export async function startMcp(): Promise<TestMcp> {
  const calls: ToolCall[] = [];
  let taken = 0;
  let handler: ToolHandler = () => undefined;

  const serverFor = (request: IncomingMessage): Server => {
    const server = new Server({ name: "test", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [] }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
      const { authorization } = request.headers;
      const call = { name: params.name, args: params.arguments ?? {}, authorization };
      calls.push(call);
      try {
        const text = JSON.stringify((await handler(call, signal)) ?? {});
        return { content: [{ type: "text", text }] };
      } catch (error) {
        return { content: [{ type: "text", text: (error as Error).message }], isError: true };
      }
    });
    return server;
  };

  const http = createServer(async (request, response) => {
    if (request.method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true } as never);
    const server = serverFor(request);
    response.once("close", () => void server.close());
    await server.connect(transport as never);
    await transport.handleRequest(request, response, await json(request));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  cleanUp(() => {
    http.closeAllConnections();
    http.close();
  });
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    calls,
    take() {
      const since = calls.slice(taken).map(({ name, args }) => [name, args] as const);
      taken = calls.length;
      return since;
    },
    handle(next) {
      handler = next;
    },
  };
}
