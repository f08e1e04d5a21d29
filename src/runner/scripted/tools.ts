import type { McpServer } from "@agentclientprotocol/sdk/unstable";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { MCP_SERVER, type ToolName } from "../agent-tools.js";

/** The tools that the platform gives to its agents. */
export interface Tools {
  /** Errors: `Refusal`, and the signal's reason after an abort. */
  call(name: ToolName, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolAnswer>;
}

export interface ToolAnswer {
  readonly text: string;
  /** The answer as data, where it is. */
  readonly value: Readonly<Record<string, unknown>>;
}

/** The platform said no, or could not be reached. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

const CALL_MS = 60_000;

/** Connects at the first call: most scripts need no tool, and the client takes a while to load. */
export function createTools(servers: readonly McpServer[]): Tools {
  const server = servers.find(
    (candidate) => "type" in candidate && candidate.type === "http" && isOurs(candidate),
  );
  let connected: Promise<Client> | undefined;

  const client = async (): Promise<Client> => {
    if (server === undefined || !("url" in server)) throw new Error(`there is no MCP server "${MCP_SERVER}"`);
    connected ??= openClient(server.url, server.headers);
    try {
      return await connected;
    } catch (error) {
      connected = undefined;
      throw error;
    }
  };

  const hangUp = () => {
    connected?.then((open) => open.close()).catch(() => {});
    connected = undefined;
  };

  return {
    async call(name, args, signal) {
      let answer: unknown;
      try {
        const open = await unlessAborted(client(), signal);
        answer = await open.callTool({ name, arguments: args }, undefined, { signal, timeout: CALL_MS });
      } catch (error) {
        // A stateless server cannot match our notice of it with the call: it hears of it when we hang up.
        if (signal.aborted) hangUp();
        signal.throwIfAborted();
        throw new Refusal(error instanceof Error ? error.message : String(error));
      }
      const { content, structuredContent, isError } = answer as {
        content?: readonly { type: string; text?: string }[];
        structuredContent?: Record<string, unknown>;
        isError?: boolean;
      };
      const text = (content ?? []).map((item) => item.text ?? "").join("\n");
      if (isError === true) throw new Refusal(text);
      return { text, value: structuredContent ?? parsed(text) };
    },
  };
}

function isOurs(server: McpServer): boolean {
  return "name" in server && server.name === MCP_SERVER;
}

async function openClient(url: string, headers: readonly { name: string; value: string }[]): Promise<Client> {
  const [{ Client }, { StreamableHTTPClientTransport }] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
  ]);
  const client = new Client({ name: "retinue-script", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])) },
  });
  // The types of the SDK's own transport do not fit its own interface under exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<Client["connect"]>[0]);
  return client;
}

/** Connecting takes no signal. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
