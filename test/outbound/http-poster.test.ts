import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { createHttpPoster } from "../../src/outbound/http-poster.js";
import { PostRefused } from "../../src/outbound/poster.js";
import { isPublicAddress } from "../../src/outbound/public-address.js";

const never = new AbortController().signal;

async function receiver(t: TestContext, answer: http.RequestListener): Promise<string> {
  const server = http.createServer(answer).listen(0, "127.0.0.1");
  t.after(() => server.close().closeAllConnections());
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

describe("the poster", { timeout: 20_000 }, () => {
  it("posts headers and body, and tells the status", async (t) => {
    let got: unknown;
    const url = await receiver(t, async (request, response) => {
      const chunks = await request.toArray();
      got = [request.method, request.url, request.headers["webhook-id"], Buffer.concat(chunks).toString()];
      response.writeHead(204).end();
    });
    const poster = createHttpPoster({ anywhere: true, timeoutMs: 5000 });
    assert.equal(await poster.post(url, { "webhook-id": "e1" }, '{"ö":1}', never), 204);
    assert.deepEqual(got, ["POST", "/hook", "e1", '{"ö":1}']);
  });

  it("follows no redirect", async (t) => {
    const url = await receiver(t, (_request, response) =>
      response.writeHead(307, { location: "/other" }).end(),
    );
    const poster = createHttpPoster({ anywhere: true, timeoutMs: 5000 });
    assert.equal(await poster.post(url, {}, "", never), 307);
  });

  it("does not wait for a receiver that never answers, nor read one that never ends", async (t) => {
    const silent = await receiver(t, () => {});
    const poster = createHttpPoster({ anywhere: true, timeoutMs: 200 });
    await assert.rejects(poster.post(silent, {}, "", never), /no answer within 0.2 s/);
    const endless = await receiver(t, (_request, response) => response.writeHead(200).write("."));
    assert.equal(await poster.post(endless, {}, "", never), 200);
  });

  it("stops when it is told", async (t) => {
    const url = await receiver(t, () => {});
    const stop = new AbortController();
    const posting = createHttpPoster({ anywhere: true, timeoutMs: 5000 }).post(url, {}, "", stop.signal);
    stop.abort();
    await assert.rejects(posting, { name: "AbortError" });
  });

  for (const url of ["http://example.com/", "https://127.0.0.1/", "https://[::1]/", "https://localhost/"]) {
    it(`refuses ${url} where only the public network may be reached`, async () => {
      const poster = createHttpPoster({ anywhere: false, timeoutMs: 5000 });
      await assert.rejects(async () => poster.post(url, {}, "", never), PostRefused);
    });
  }

  it("knows the inside of a network from the outside", () => {
    const inside = [
      "127.0.0.1",
      "10.1.2.3",
      "172.31.0.1",
      "192.168.1.1",
      "169.254.169.254",
      "100.64.0.1",
      "0.0.0.0",
    ];
    for (const address of [...inside, "::1", "::", "fd00::1", "fe80::1", "::ffff:10.0.0.1", "224.0.0.1"]) {
      assert.equal(isPublicAddress(address), false, address);
    }
    for (const address of ["8.8.8.8", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8"]) {
      assert.equal(isPublicAddress(address), true, address);
    }
  });
});
