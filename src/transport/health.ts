import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../gen/health/v1/health_pb.js";
import { notFound, resourceExhausted } from "../domain/fault.js";
import { quoted } from "../domain/name.js";
import { serverStopping } from "./call.js";
import { toConnectError } from "./status.js";

export interface HealthService {
  routes(router: ConnectRouter): void;
  /** Watchers are told at once. */
  setServing(serving: boolean): void;
}

/**
 * grpc.health.v1, open without a key. All services live and die together, so each has the health of the
 * server, whose name is the empty string. Serving from the start: a server that cannot serve does not listen.
 * Since nobody needs a key to watch, there is a limit to all watchers together.
 */
export function createHealth(services: readonly string[], maxWatchers = 1000): HealthService {
  const names = ["", ...services, Health.typeName];
  const watchers = new Set<() => void>();
  let status = Status.SERVING;

  /** `context.signal` ends with the client and with the server. */
  async function* watch({ service }: { service: string }, { signal }: HandlerContext) {
    if (watchers.size >= maxWatchers) {
      throw toConnectError(
        resourceExhausted("TOO_MANY_WATCHERS", `there are ${maxWatchers} health watches open`),
      );
    }
    let wake = () => {};
    const watcher = () => wake();
    watchers.add(watcher);
    signal.addEventListener("abort", watcher);
    try {
      for (let told: Status | undefined; ; ) {
        const current = names.includes(service) ? status : Status.SERVICE_UNKNOWN;
        if (current !== told) {
          told = current;
          yield { status: current };
        } else if (signal.aborted) throw toConnectError(serverStopping());
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      watchers.delete(watcher);
      signal.removeEventListener("abort", watcher);
    }
  }

  return {
    routes(router) {
      router.service(Health, {
        check({ service }) {
          if (names.includes(service)) return { status };
          throw toConnectError(notFound("SERVICE_NOT_FOUND", `there is no service ${quoted(service)}`));
        },
        list: () => ({ statuses: Object.fromEntries(names.map((name) => [name, { status }])) }),
        watch,
      });
    },
    setServing(serving) {
      status = serving ? Status.SERVING : Status.NOT_SERVING;
      for (const watcher of watchers) watcher();
    },
  };
}
