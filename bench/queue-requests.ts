import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { QueueFollowUpRequestSchema, WaitAgentRequestSchema } from "../gen/retinue/v1/agent_service_pb.js";
import { WatchRequestSchema } from "../gen/retinue/v1/timeline_service_pb.js";
import { probe } from "./probe.js";
import { framed, type RequestShape } from "./requests.js";
import type { RetinueProcess } from "./retinue.js";

/** Names sort as they count, and have one length. */
export const agentName = (index: number) => `bench-${String(index).padStart(6, "0")}`;

function grpc<Desc extends DescMessage>(
  path: string,
  schema: Desc,
  init: MessageInitShape<Desc>,
): RequestShape & { readonly body: Buffer } {
  return {
    protocol: "grpc",
    paths: [`/retinue.v1.${path}`],
    body: framed(toBinary(schema, create(schema, init))),
  };
}

function http(path: string, body: object): RequestShape & { readonly body: Buffer } {
  return { protocol: "http1", paths: [path], body: Buffer.from(JSON.stringify(body)) };
}

/** What is asked of one agent. */
export function agentShapes(index: number) {
  const agentId = { workspace: "default", agent: [agentName(index)] };
  return {
    grpcWatch: grpc("TimelineService/Watch", WatchRequestSchema, { agentId }),
    grpcWait: grpc("AgentService/WaitAgent", WaitAgentRequestSchema, { agentId }),
    grpcQueue: grpc("AgentService/QueueFollowUp", QueueFollowUpRequestSchema, {
      agentId,
      description: "@say hello",
    }),
    httpWatch: http("/v1/agent/watch", { agentId }),
    httpWait: http("/v1/agent/wait", { agentId }),
    httpStatus: http("/v1/agent/status", { agentId }),
    httpQueue: http("/v1/agent/queue", { agentId, description: "@say hello" }),
  };
}

/** Agents that hold a turn, or wait for a slot if there are more than slots; resolves with their uids. */
export async function spawnAgents(
  server: RetinueProcess,
  count: number,
  description: string,
): Promise<string[]> {
  const uids: string[] = [];
  for (let i = 0; i < count; i++) {
    const agentId = { workspace: "default", agent: [agentName(i)] };
    const answer = await probe(server.port, http("/v1/agent/spawn", { agentId, description }), server.key);
    uids.push((JSON.parse(String(answer)) as { agentId: { uid: string } }).agentId.uid);
  }
  return uids;
}
