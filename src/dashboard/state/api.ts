import { Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.js";
import { AgentService } from "../../../gen/retinue/v1/agent_service_pb.js";
import { AuditService } from "../../../gen/retinue/v1/audit_service_pb.js";
import { CatalogService } from "../../../gen/retinue/v1/catalog_service_pb.js";
import { IdentityService } from "../../../gen/retinue/v1/identity_service_pb.js";
import { PoolService } from "../../../gen/retinue/v1/pool_service_pb.js";
import { TaskService } from "../../../gen/retinue/v1/task_service_pb.js";
import { TimelineService } from "../../../gen/retinue/v1/timeline_service_pb.js";
import { key, keyRefused } from "./key.js";

export const bearer = (text: string) => `Bearer ${text}`;

const withKey: Interceptor = (next) => async (request) => {
  const used = key.peek();
  // A key that is being tried is sent as it is.
  if (!request.header.has("authorization")) request.header.set("authorization", bearer(used));
  try {
    return await next(request);
  } catch (error) {
    const refused = error instanceof ConnectError && error.code === Code.Unauthenticated;
    if (refused && used !== "" && used === key.peek()) keyRefused(error.rawMessage);
    throw error;
  }
};

const transport = createConnectTransport({
  baseUrl: location.origin,
  useBinaryFormat: true,
  interceptors: [withKey],
});

export const agents = createClient(AgentService, transport);
export const tasks = createClient(TaskService, transport);
export const timeline = createClient(TimelineService, transport);
export const catalog = createClient(CatalogService, transport);
export const audit = createClient(AuditService, transport);
export const pools = createClient(PoolService, transport);
export const identity = createClient(IdentityService, transport);

/** What to tell people: the server's own words, which name the field and what is allowed. */
export function messageOf(error: unknown): string {
  if (isLost(error)) return "The server cannot be reached.";
  return error instanceof ConnectError ? error.rawMessage : String(error);
}

/** The stable reason of a refusal. */
export function reasonOf(error: unknown): string {
  return error instanceof ConnectError ? (error.findDetails(ErrorInfoSchema)[0]?.reason ?? "") : "";
}

/** The server did not answer, or said that it is going away: worth another try. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof ConnectError)) return false;
  return error.code === Code.Unavailable || error.cause instanceof TypeError;
}
