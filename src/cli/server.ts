import { type Client, createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { AgentService } from "../../gen/retinue/v1/agent_service_pb.js";
import { CatalogService } from "../../gen/retinue/v1/catalog_service_pb.js";
import { IdentityService } from "../../gen/retinue/v1/identity_service_pb.js";
import { TaskService } from "../../gen/retinue/v1/task_service_pb.js";
import { TimelineService } from "../../gen/retinue/v1/timeline_service_pb.js";
import { UsageService } from "../../gen/retinue/v1/usage_service_pb.js";
import { WorkService } from "../../gen/retinue/v1/work_service_pb.js";
import type { Context } from "./contexts.js";

/** A server, by the same services that every client has. */
export interface Server {
  readonly url: string;
  readonly agents: Client<typeof AgentService>;
  readonly tasks: Client<typeof TaskService>;
  readonly timeline: Client<typeof TimelineService>;
  readonly catalog: Client<typeof CatalogService>;
  readonly usage: Client<typeof UsageService>;
  readonly identity: Client<typeof IdentityService>;
  readonly work: Client<typeof WorkService>;
}

export function openServer({ url, key }: Context): Server {
  const authorize: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${key}`);
    return next(request);
  };
  // HTTP/1.1: goes through every proxy, and an idle connection does not keep the process alive.
  const transport = createConnectTransport({ baseUrl: url, httpVersion: "1.1", interceptors: [authorize] });
  return {
    url,
    agents: createClient(AgentService, transport),
    tasks: createClient(TaskService, transport),
    timeline: createClient(TimelineService, transport),
    catalog: createClient(CatalogService, transport),
    usage: createClient(UsageService, transport),
    identity: createClient(IdentityService, transport),
    work: createClient(WorkService, transport),
  };
}
