import { PoolService } from "../../gen/retinue/v1/pool_service_pb.js";
import { resolveTenant } from "../domain/caller.js";
import type { PoolViews } from "../engine/agents/engine.js";
import { implement, type Service } from "./service.js";

export function poolService(pools: PoolViews): Service {
  return implement(PoolService, {
    async listPools(request, context) {
      return { pools: await pools.list(resolveTenant(context.caller, request.tenant)) };
    },
  });
}
