import assert from "node:assert/strict";
import { mkdirSync, readFileSync, watch } from "node:fs";
import http2 from "node:http2";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import type { JsonValue } from "@bufbuild/protobuf";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { CatalogService } from "../../gen/retinue/v1/catalog_service_pb.js";
import { type Client, connectClient, requestOn } from "../support/clients.js";
import { temporaryFolder } from "../support/folder.js";
import { runProgram, type ServeProgram, startProgram, startServe } from "../support/process.js";
import { decode, encode, rest, startServer } from "../support/server.js";

const { getResource, putResource } = CatalogService.method;

/** A write that the server has said is done. */
interface Acknowledged {
  readonly kind: string;
  readonly name: string;
  readonly generation: string;
  readonly payload: string;
}

interface Written {
  readonly payload: string;
  readonly generation: string;
}

/** What came back; undefined when the connection was lost before the answer. */
type Answered = { readonly ok: Written } | { readonly mismatch: true } | undefined;

/** 1000 writes at once: new names, counters that many fight over, and keys; half over `/v1`, half over gRPC. */
class Flood {
  readonly acknowledged: Acknowledged[] = [];
  readonly keys: string[] = [];
  /** Answers that are neither a success nor a lost race: there must be none. */
  readonly unexpected: string[] = [];
  readonly #grpc: Client;

  constructor(
    private readonly server: ServeProgram,
    private readonly round: number,
    private readonly onAcknowledged: (count: number) => void,
  ) {
    this.#grpc = connectClient("gRPC", createGrpcTransport({ baseUrl: server.url }));
  }

  async run(): Promise<void> {
    const writers: Promise<void>[] = [];
    for (let i = 0; i < 1000; i++) {
      const put = i % 2 === 0 ? this.#putOverRest : this.#putOverGrpc;
      if (i % 50 === 7) writers.push(this.#mint(`key-${this.round}-${i}`));
      else if (i % 4 === 3) writers.push(this.#count(`counter-${i % 100}`, put));
      else writers.push(this.#create(`new-${this.round}-${i}`, put));
    }
    await Promise.all(writers);
  }

  async #create(name: string, put: Put): Promise<void> {
    const document = { displayName: name, description: "x".repeat((name.length * 97) % 3000) };
    const answered = await put("workspace", name, document, "0");
    if (answered === undefined) return;
    if ("ok" in answered) this.#note("workspace", name, answered.ok);
    else this.unexpected.push(`${name} was new and is said to exist`);
  }

  /** One increment by compare-and-swap: generation n holds the text n, or something was lost or done twice. */
  async #count(name: string, put: Put): Promise<void> {
    for (;;) {
      const read = await this.#grpc.unary(getResource, ref("workspace", name), this.server.adminKey);
      if ("fault" in read && read.fault.code !== 5) return this.#lost(read.fault);
      const generation = "fault" in read ? 0n : BigInt((read.answer as unknown as Written).generation);
      const answered = await put(
        "workspace",
        name,
        { displayName: String(generation + 1n) },
        String(generation),
      );
      if (answered === undefined) return;
      if ("ok" in answered) return this.#note("workspace", name, answered.ok);
    }
  }

  async #mint(name: string): Promise<void> {
    const answered = await this.#putOverRest("token", name, { role: "viewer" }, "0");
    if (answered === undefined || "mismatch" in answered) return;
    this.keys.push(decode(answered.ok.payload).key);
    this.#note("token", name, answered.ok);
  }

  #note(kind: string, name: string, { payload, generation }: Written): void {
    this.acknowledged.push({ kind, name, generation, payload });
    this.onAcknowledged(this.acknowledged.length);
  }

  readonly #putOverRest: Put = async (kind, name, document, ifGenerationMatch) => {
    const body = { payload: encode(document), ifGenerationMatch };
    try {
      const answer = await rest(
        this.server,
        this.server.adminKey,
        "POST",
        `/v1/catalog/${kind}/${name}`,
        body,
      );
      if (answer.status === 200) return { ok: answer.body as Written };
      if (answer.body.code === 9) return { mismatch: true };
      this.unexpected.push(JSON.stringify(answer.body));
    } catch {
      // The connection was lost: whether it was written, nobody has said.
    }
    return undefined;
  };

  readonly #putOverGrpc: Put = async (kind, name, document, ifGenerationMatch) => {
    const request = { ...ref(kind, name), payload: encode(document), ifGenerationMatch };
    const outcome = await this.#grpc.unary(putResource, request, this.server.adminKey);
    if ("answer" in outcome) return { ok: outcome.answer as unknown as Written };
    if (outcome.fault.code === 9) return { mismatch: true };
    this.#lost(outcome.fault);
    return undefined;
  };

  /** Faults of the server have details; those that the client makes up for a lost connection have none. */
  #lost(fault: { details: JsonValue }): void {
    if ((fault.details as JsonValue[]).length > 0) this.unexpected.push(JSON.stringify(fault));
  }
}

type Put = (kind: string, name: string, document: object, ifGenerationMatch: string) => Promise<Answered>;

const ref = (kind: string, name: string) => ({ ref: { kind, name } });

/** Reads a lot over one connection. */
class Reader {
  readonly #session: http2.ClientHttp2Session;

  constructor(private readonly server: ServeProgram) {
    this.#session = http2.connect(server.url);
    this.#session.on("error", () => {});
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  async get(path: string): Promise<any> {
    const headers = { authorization: `Bearer ${this.server.adminKey}` };
    const { status, body } = await requestOn(this.#session, { path, headers });
    assert.equal(status, 200, body.toString());
    return JSON.parse(body.toString());
  }

  close(): void {
    this.#session.destroy();
  }
}

async function allPages<T>(
  next: (pageToken: string) => Promise<{ items: T[]; nextPageToken: string }>,
): Promise<T[]> {
  const all: T[] = [];
  for (let token = ""; ; ) {
    const { items, nextPageToken } = await next(token);
    all.push(...items);
    if (nextPageToken === "") return all;
    token = nextPageToken;
  }
}

interface Stored {
  readonly generation: string;
  readonly payload: string;
}

/** Everything that a server has of a kind; with its history, newest first, where it may have changed. */
async function readAll(reader: Reader, kind: string, round: number): Promise<Map<string, Stored[]>> {
  const entries = await allPages<Stored & { name: string }>(async (pageToken) => {
    const page = await reader.get(`/v1/catalog/${kind}?pageSize=200&pageToken=${pageToken}`);
    return { items: page.entries, nextPageToken: page.nextPageToken };
  });
  const stored = entries.filter(({ generation }) => generation !== "0");
  const histories = stored.map(async ({ name, generation, payload }) => {
    const old = /^(?:new|key)-(\d)-/.exec(name)?.[1];
    if (old !== undefined && Number(old) < round)
      return [name, [{ generation, payload }] as Stored[]] as const;
    const versions = await allPages<Stored>(async (pageToken) => {
      const page = await reader.get(
        `/v1/catalog/${kind}/${name}/history?pageSize=200&pageToken=${pageToken}`,
      );
      return { items: page.versions, nextPageToken: page.nextPageToken };
    });
    // A token shows when it was last used, which is no part of a version.
    if (kind !== "token")
      assert.deepEqual([versions[0]?.generation, versions[0]?.payload], [generation, payload], name);
    return [name, versions] as const;
  });
  return new Map(await Promise.all(histories));
}

interface AuditRecord {
  readonly target: string;
  readonly outcome: string;
  readonly generationBefore: string;
  readonly generationAfter: string;
}

/** What was done to each target, newest first. */
async function readAudit(reader: Reader): Promise<Map<string, string[]>> {
  const records = await allPages<AuditRecord>(async (pageToken) => {
    const page = await reader.get(`/v1/audit?pageSize=200&pageToken=${pageToken}`);
    return { items: page.records, nextPageToken: page.nextPageToken };
  });
  const steps = new Map<string, string[]>();
  for (const { target, outcome, generationBefore, generationAfter } of records) {
    if (outcome !== "AUDIT_OUTCOME_DONE") continue;
    steps.set(target, [...(steps.get(target) ?? []), `${generationBefore}→${generationAfter}`]);
  }
  return steps;
}

/** Newest first, and none missing: n, n - 1, …, 1. */
function assertGapless(versions: readonly Stored[], name: string): void {
  const expected = versions.map((_, i) => String(versions.length - i));
  assert.deepEqual(
    versions.map(({ generation }) => generation),
    expected,
    `generations of ${name}`,
  );
}

describe("kill -9 during 1000 concurrent writes", () => {
  let server: ServeProgram;
  const acknowledged: Acknowledged[] = [];
  const keys: string[] = [];

  before(async () => {
    server = await startServe({ args: ["--requests-per-second", "0"] });
  });

  for (const [round, killAt] of [40, 350, 800].entries()) {
    test(`after ${killAt} acknowledgements: each of them is there, and nothing else is half done`, {
      timeout: 100_000,
    }, async () => {
      const flood = new Flood(server, round, (count) => {
        if (count === killAt) server.kill("SIGKILL");
      });
      await flood.run();
      assert.deepEqual(await server.exited.then(({ signal }) => signal), "SIGKILL");
      assert.deepEqual(flood.unexpected, []);
      assert.ok(
        flood.acknowledged.length >= killAt && flood.acknowledged.length < 1000,
        "killed in the middle",
      );
      acknowledged.push(...flood.acknowledged);
      keys.push(...flood.keys);

      // It comes up by itself: the same command, nothing else.
      server = await startServe({ dataDir: server.dataDir, args: ["--requests-per-second", "0"] });
      const reader = new Reader(server);
      const audit = await readAudit(reader);
      const kinds = new Map<string, Map<string, Stored[]>>();
      for (const kind of ["workspace", "token"]) {
        const stored = await readAll(reader, kind, round);
        kinds.set(kind, stored);
        for (const [name, versions] of stored) {
          assertGapless(versions, name);
          const steps = versions.map(({ generation }) => `${BigInt(generation) - 1n}→${generation}`);
          assert.deepEqual(
            audit.get(`${kind}/${name}`),
            steps,
            `the audit of ${kind}/${name}, one record a version`,
          );
          audit.delete(`${kind}/${name}`);
        }
      }
      reader.close();
      assert.deepEqual([...audit.keys()], [], "no record of what is not stored");
      for (const [name, versions] of kinds.get("workspace") ?? []) {
        if (!name.startsWith("counter-")) continue;
        for (const { generation, payload } of versions)
          assert.equal(decode(payload).displayName, generation, name);
      }
      for (const { kind, name, generation, payload } of acknowledged) {
        const version = kinds
          .get(kind)
          ?.get(name)
          ?.find((candidate) => candidate.generation === generation);
        assert.ok(version, `${kind}/${name} was acknowledged at generation ${generation} and is gone`);
        // The one answer that carries a key is the only one that does.
        const { key: _key, ...document } = decode(payload);
        assert.deepEqual(decode(version.payload), document, name);
        if (kind !== "token") assert.equal(version.payload, payload, name);
      }
    });
  }

  test("every key that was handed out works", async () => {
    assert.ok(keys.length > 0);
    for (const key of keys) assert.equal((await rest(server, key, "GET", "/v1/whoami")).status, 200);
  });

  test("the server writes on, from where it was", async () => {
    const read = await rest(server, server.adminKey, "GET", "/v1/catalog/workspace/counter-3");
    const body = { payload: encode({ displayName: "on" }), ifGenerationMatch: read.body.generation };
    const written = await rest(server, server.adminKey, "POST", "/v1/catalog/workspace/counter-3", body);
    assert.equal(written.body.generation, String(BigInt(read.body.generation) + 1n));
  });
});

describe("kill -9 during the very first start", { concurrency: true }, () => {
  for (const file of ["retinue.db-wal", "admin.key.new", "admin.key"]) {
    test(`as soon as ${file} is there: the next start comes up, with a key that works`, {
      timeout: 60_000,
    }, async () => {
      const dataDir = join(temporaryFolder(), "data");
      mkdirSync(dataDir);
      const seen = new Promise<void>((resolve) => {
        const watcher = watch(dataDir, (_event, name) => {
          if (name !== file) return;
          watcher.close();
          resolve();
        });
      });
      const first = startProgram(["serve", "--port", "0", "--data", dataDir]);
      await Promise.race([seen, first.exited.then(() => assert.fail(first.stderr()))]);
      first.kill("SIGKILL");
      await first.exited;
      const second = await startServer({ data: dataDir });
      assert.equal((await rest(second, second.adminKey, "GET", "/v1/whoami")).body.role, "admin");
    });
  }
});

describe("a second server on the same folder", () => {
  test("is refused with a clear message and exit code 1, and the first serves on", async () => {
    const first = await startServe();
    const second = await runProgram(["serve", "--port", "0", "--data", first.dataDir]);
    assert.equal(second.code, 1);
    assert.equal(second.stdout, "");
    assert.match(second.stderr, /^retinue: .*in use by another server.*\n$/);
    assert.ok(second.stderr.includes(first.dataDir), "names the folder");
    assert.equal(readFileSync(join(first.dataDir, "admin.key"), "utf8").trim(), first.adminKey);
    const body = { payload: encode({ displayName: "still here" }) };
    assert.equal((await rest(first, first.adminKey, "POST", "/v1/catalog/workspace/w", body)).status, 200);

    // Suspended is not gone; killed is, without anybody tidying up.
    first.kill("SIGSTOP");
    const third = await runProgram(["serve", "--port", "0", "--data", first.dataDir]);
    assert.equal(third.code, 1);
    first.kill("SIGKILL");
    await first.exited;
    const fourth = await startServer({ data: first.dataDir });
    assert.equal(fourth.adminKey, first.adminKey);
  });
});
