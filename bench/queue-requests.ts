import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { QueueFollowUpRequestSchema, WaitAgentRequestSchema } from "../gen/retinue/v1/agent_service_pb.js";
import { WatchRequestSchema } from "../gen/retinue/v1/timeline_service_pb.js";
import { probe } from "./probe.js";
import { framed, type RequestShape } from "./requests.js";
import type { RetinueProcess } from "./retinue.js";

/** As many as vary-body.c can name by two letters. */
export const AGENTS = 64;
export const agentName = (index: number) => `bench-${"abcdefgh"[index >> 3]}${"abcdefgh"[index & 7]}`;
const COUNTER = "A".repeat(8);

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
    httpQueue: http("/v1/agent/queue", { agentId, description: `@say ${COUNTER}` }),
    httpClear: http("/v1/agent/clear-follow-ups", { agentId }),
    httpTip: http("/v1/agent/timeline", { agentId, pageSize: 1 }),
  };
}

/** Queue-add as h2load sends it: a message that differs every time, to one agent or to all in turn. */
export function queueShapes(tempDir: string) {
  const agentId = { workspace: "default", agent: [agentName(0)] };
  const request = { agentId, description: `@say ${COUNTER}` };
  const shape = grpc("AgentService/QueueFollowUp", QueueFollowUpRequestSchema, request);
  const bodyFile = join(tempDir, "queue.grpc");
  writeFileSync(bodyFile, shape.body);
  const at = shape.body.indexOf(COUNTER);
  const nameAt = shape.body.indexOf(agentName(0)) + agentName(0).length - 1;
  return {
    spread: { ...shape, bodyFile, vary: `${at} 1 ${nameAt}` },
    one: { ...shape, bodyFile, vary: `${at} 1 -1` },
  };
}

/** Agents that have to wait for tomorrow: alive, with a queue, and without a process that would be measured as well. */
export function spawnWaiting(server: RetinueProcess, count: number): Promise<void> {
  const startAt = new Date(Date.now() + 86_400_000).toISOString();
  return spawnAgents(server, count, { description: "@say hello", startAt });
}

export async function spawnAgents(server: RetinueProcess, count: number, spec: object): Promise<void> {
  for (let i = 0; i < count; i++) {
    const agentId = { workspace: "default", agent: [agentName(i)] };
    await probe(server.port, http("/v1/agent/spawn", { agentId, ...spec }), server.key);
  }
}
