import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { Code } from "../../gen/google/rpc/code_pb.js";
import {
  Health,
  HealthCheckRequestSchema,
  type HealthCheckResponse,
  HealthCheckResponseSchema,
  HealthCheckResponse_ServingStatus as Status,
} from "../../gen/health/v1/health_pb.js";
import { notFound } from "../../src/domain/fault.js";
import { serverStopping } from "../../src/transport/call.js";
import { failure, grpcClient, type Served, serve, told, toldFault } from "./rpc-server.js";

const NAMES = [
  "",
  "grpc.health.v1.Health",
  "retinue.v1.CatalogService",
  "retinue.v1.IdentityService",
  "retinue.v1.TimelineService",
];

function clientOf(served: Served) {
  return createClient(Health, createGrpcTransport({ baseUrl: served.url }));
}

/** The answers of a watch, one at a time. */
function watch(t: TestContext, served: Served, service: string) {
  const leave = new AbortController();
  t.after(() => leave.abort());
  const updates = clientOf(served).watch({ service }, { signal: leave.signal })[Symbol.asyncIterator]();
  return {
    next: async () => ((await updates.next()) as IteratorYieldResult<HealthCheckResponse>).value.status,
    end: () => updates.next(),
  };
}

describe("grpc.health.v1", () => {
  for (const service of NAMES) {
    it(`'${service}' is serving, and not when the server says so`, async (t) => {
      const served = await serve(t, {});
      const client = clientOf(served);
      assert.equal((await client.check({ service })).status, Status.SERVING);
      served.health.setServing(false);
      assert.equal((await client.check({ service })).status, Status.NOT_SERVING);
      served.health.setServing(true);
      assert.equal((await client.check({ service })).status, Status.SERVING);
    });
  }

  it("answers a grpc-js client, which sends no key", async (t) => {
    const served = await serve(t, {});
    const reply = await new Promise<HealthCheckResponse | undefined>((resolve, reject) => {
      grpcClient(t, served).makeUnaryRequest(
        "/grpc.health.v1.Health/Check",
        (message) => Buffer.from(toBinary(HealthCheckRequestSchema, message)),
        (bytes) => fromBinary(HealthCheckResponseSchema, bytes),
        create(HealthCheckRequestSchema),
        (error, message) => (error ? reject(error) : resolve(message)),
      );
    });
    assert.equal(reply?.status, Status.SERVING);
  });

  it("answers plain JSON", async (t) => {
    const served = await serve(t, {});
    const client = createClient(Health, createConnectTransport({ baseUrl: served.url, httpVersion: "1.1" }));
    assert.equal((await client.check({})).status, Status.SERVING);
  });

  it("lists every service", async (t) => {
    const served = await serve(t, {});
    const { statuses } = await clientOf(served).list({});
    assert.deepEqual(Object.keys(statuses).sort(), NAMES);
    assert.ok(Object.values(statuses).every(({ status }) => status === Status.SERVING));
  });

  it("the check of an unknown service is NOT_FOUND", async (t) => {
    const served = await serve(t, {});
    const expected = toldFault(notFound("SERVICE_NOT_FOUND", 'there is no service "nope"'));
    assert.deepEqual(told(await failure(clientOf(served).check({ service: "nope" }))), expected);
  });

  it("a watch tells the status, then each change, and not what stays as it is", async (t) => {
    const served = await serve(t, {});
    const { next } = watch(t, served, "retinue.v1.TimelineService");
    assert.equal(await next(), Status.SERVING);
    served.health.setServing(true);
    served.health.setServing(false);
    assert.equal(await next(), Status.NOT_SERVING);
    served.health.setServing(true);
    assert.equal(await next(), Status.SERVING);
  });

  it("the watch of an unknown service says so and stays open", async (t) => {
    const served = await serve(t, {});
    const { next, end } = watch(t, served, "nope");
    assert.equal(await next(), Status.SERVICE_UNKNOWN);
    served.health.setServing(false);
    served.shutdown.abort();
    assert.deepEqual(told(await failure(end())), toldFault(serverStopping()));
  });

  it("when the server stops, watchers are told first and then sent away", async (t) => {
    const served = await serve(t, {});
    const watches = ["", ""].map((service) => watch(t, served, service));
    for (const { next } of watches) assert.equal(await next(), Status.SERVING);
    served.health.setServing(false);
    served.shutdown.abort();
    for (const { next, end } of watches) {
      assert.equal(await next(), Status.NOT_SERVING);
      const error = told(await failure(end()));
      assert.deepEqual([error.code, error.reason], [Code.UNAVAILABLE, "SERVER_STOPPING"]);
    }
  });

  it("there is a limit to watchers, and one that leaves makes room", async (t) => {
    const served = await serve(t, {}, { maxWatchers: 1 });
    const leave = new AbortController();
    const first = clientOf(served).watch({}, { signal: leave.signal })[Symbol.asyncIterator]();
    await first.next();
    const second = watch(t, served, "");
    assert.equal(told(await failure(second.next())).reason, "TOO_MANY_WATCHERS");
    leave.abort();
    await failure(first.next());
    // The server learns of it a moment after the client.
    const tryAgain = (): Promise<Status> => watch(t, served, "").next().catch(tryAgain);
    assert.equal(await tryAgain(), Status.SERVING);
  });
});
