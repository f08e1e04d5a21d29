import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import net from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import {
  createFileRegistry,
  type DescMethod,
  type FileRegistry,
  fromBinary,
  getOption,
  hasOption,
} from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { http as httpRule } from "../../gen/google/api/annotations_pb.js";
import { ServerReflection } from "../../gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { Health, HealthCheckResponse_ServingStatus as Serving } from "../../gen/health/v1/health_pb.js";
import { IdentityService } from "../../gen/retinue/v1/identity_service_pb.js";
import { exchange, openClients, WIRES } from "../support/clients.js";
import { temporaryFolder } from "../support/folder.js";
import { freePort } from "../support/free-port.js";
import {
  configFrom,
  listeningUrl,
  type Program,
  printed,
  refusalOf,
  runProgram,
  startProgram,
  startServe,
} from "../support/process.js";
import { decode, encode, mintKey, rest, startServer, type TestServer } from "../support/server.js";

/** Runs a line as a person does who pastes it into a terminal, in whatever folder that happens to be. */
function paste(line: string, cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile("bash", ["-c", line], { cwd }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${line}\n${stderr}`));
      else resolve(stdout);
    });
  });
}

const curlLine = (program: Program) => printed(program, /(curl .*)\n/);

describe("retinue serve", { concurrency: 2 }, () => {
  test("says that it listens, on standard output, when it does; and the curl line below works when pasted", async () => {
    const server = await startServe();
    assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.equal((await rest(server, server.adminKey, "GET", "/v1/whoami")).status, 200);
    const answer = JSON.parse(await paste(await curlLine(server), "/"));
    assert.deepEqual([answer.account, answer.role], ["admin", "admin"]);
    assert.doesNotMatch(server.stderr(), /listening on/);
    assert.equal(statSync(server.dataDir).mode & 0o777, 0o700, "nobody else looks into the data folder");
    assert.equal(statSync(join(server.dataDir, "admin.key")).mode & 0o777, 0o600);
  });

  test("the curl line works from any folder, for a data folder whose name is a challenge, and does nothing else", async () => {
    const cwd = temporaryFolder();
    const elsewhere = temporaryFolder();
    const name = `it's "my" data $(touch oops) \`touch oops\`; & more`;
    const program = startProgram(["serve", "--port", "0", "--data", `./${name}`], { cwd });
    assert.equal(JSON.parse(await paste(await curlLine(program), elsewhere)).account, "admin");
    assert.deepEqual([readdirSync(cwd), readdirSync(elsewhere)], [[name], []]);
  });

  test("the environment is heard: port, data folder, public address, an operator's key", async () => {
    const folder = temporaryFolder();
    const port = await freePort();
    const operatorKey = join(folder, "operator.key");
    const program = startProgram(["serve"], {
      env: {
        RETINUE_PORT: String(port),
        RETINUE_DATA: join(folder, "by-env"),
        RETINUE_PUBLIC_URL: "https://retinue.example.com/",
        RETINUE_OPERATOR_KEY: operatorKey,
      },
    });
    const url = await listeningUrl(program);
    assert.equal(url, `http://127.0.0.1:${port}`);
    assert.match(await curlLine(program), /by-env.*https:\/\/retinue\.example\.com\/v1\/whoami/);
    assert.ok(statSync(join(folder, "by-env", "admin.key")).isFile());
    assert.equal(statSync(operatorKey).mode & 0o777, 0o600);
    const key = readFileSync(operatorKey, "utf8").trim();
    assert.equal((await rest({ url }, key, "GET", "/v1/whoami")).body.role, "platform-operator");
  });

  test("a reader that goes away does not take the server with it", async () => {
    const port = await freePort();
    const program = startProgram([
      "serve",
      "--port",
      String(port),
      "--data",
      join(temporaryFolder(), "data"),
    ]);
    program.child.stdout?.destroy();
    let gone = false;
    program.exited.then(() => (gone = true)).catch(() => {});
    // There is nothing to read, so it is asked until it answers.
    for (;;) {
      assert.ok(!gone, `it ended: ${program.stderr()}`);
      const status = await fetch(`http://127.0.0.1:${port}/v1/whoami`).then(
        (response) => response.status,
        () => new Promise((resolve) => setTimeout(resolve, 50)),
      );
      if (status === 401) break;
    }
  });

  test("flags win over the environment, which wins over the defaults", () => {
    const env = {
      RETINUE_PORT: "81",
      RETINUE_HOST: "127.0.0.3",
      RETINUE_DATA: "/by-env",
      RETINUE_LOG_LEVEL: "warn",
    };
    const byEnv = configFrom([], env);
    assert.deepEqual(
      [byEnv.port, byEnv.host, byEnv.data, byEnv.logLevel],
      [81, "127.0.0.3", "/by-env", "warn"],
    );
    const byFlag = configFrom(
      ["--port", "82", "--host", "127.0.0.4", "--data", "/by-flag", "--log-level", "error"],
      env,
    );
    assert.deepEqual(
      [byFlag.port, byFlag.host, byFlag.data, byFlag.logLevel],
      [82, "127.0.0.4", "/by-flag", "error"],
    );
  });

  test("the defaults are those that are documented", () => {
    const { port, host, data } = configFrom([]);
    assert.deepEqual({ port, host, data }, { port: 8080, host: "127.0.0.1", data: "./data" });
  });
});

describe("what cannot be is refused, and the line says what can", () => {
  const folder = temporaryFolder();
  const file = join(folder, "file");
  writeFileSync(file, "neither a folder nor a key\n");

  const rows: readonly (readonly [
    sentence: string,
    args: string[],
    text: RegExp,
    env?: Record<string, string>,
  ])[] = [
    ["a port that is no number", ["--port", "http"], /--port.*0 to 65535/],
    ["a port beyond the last", ["--port", "65536"], /--port.*0 to 65535/],
    ["a negative port", ["--port=-1"], /--port.*0 to 65535/],
    ["a port with a fraction", ["--port", "80.5"], /--port.*0 to 65535/],
    ["an empty port", ["--port", ""], /--port.*0 to 65535/],
    ["a rate that is no number", ["--requests-per-second", "fast"], /--requests-per-second.*whole number/],
    ["a negative rate", ["--requests-per-second=-1"], /--requests-per-second.*whole number from 0/],
    [
      "a bad rate in the environment",
      [],
      /RETINUE_REQUESTS_PER_SECOND.*whole number/,
      { RETINUE_REQUESTS_PER_SECOND: "x" },
    ],
    ["a log level that there is not", ["--log-level", "loud"], /--log-level.*debug.*trace/],
    ["a flag that there is not", ["--prot", "80"], /--prot/],
    ["an argument that nobody expects", ["now"], /argument/],
    ["a data folder that is a file", ["--data", file], /file/],
    ["an operator's key that is none", ["--operator-key", file], /file.*rtn_/],
    ["a public URL that is none", ["--public-url", "not a url"], /--public-url.*http/],
    ["a variable that is neither true nor false", [], /RETINUE_INSECURE/, { RETINUE_INSECURE: "perhaps" }],
  ];
  for (const [sentence, args, text, env = {}] of rows) {
    test(sentence, async () => assert.match(await refusalOf(args, env), text));
  }

  const programs: readonly (readonly [sentence: string, args: string[], text: RegExp])[] = [
    ["a bad flag", ["serve", "--port", "http"], /--port.*0 to 65535/],
    ["a backup of nothing", ["backup", join(folder, "to"), "--data", folder], /^retinue: .*no data folder/],
  ];
  for (const [sentence, args, text] of programs) {
    test(`${sentence}: exit code 1 or 2, and no stack`, async () => {
      const ended = await runProgram(args, { cwd: folder });
      assert.ok(
        ended.code === 1 || ended.code === 2,
        `exit code ${ended.code}: ${ended.stdout}${ended.stderr}`,
      );
      assert.match(ended.stderr, text);
      assert.doesNotMatch(ended.stderr, /^ {4}at /m);
    });
  }

  test("a port that is taken: named, and the data folder is free again", async () => {
    const taken = net.createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as net.AddressInfo;
    const data = join(temporaryFolder(), "data");
    const said = await refusalOf(["--port", String(port), "--data", data]);
    taken.close();
    assert.match(said, new RegExp(`in use.*${port}`));
    const server = await startServer({ data });
    assert.equal((await rest(server, server.adminKey, "GET", "/v1/whoami")).status, 200);
  });
});

describe("retinue backup", () => {
  test("while the server is being written to: a folder that serves all that was acknowledged before", async () => {
    const server = await startServer();
    const put = (name: string) =>
      rest(server, server.adminKey, "POST", `/v1/catalog/workspace/${name}`, {
        payload: encode({ displayName: name }),
      });
    const before: string[] = [];
    for (let i = 0; i < 100; i++) {
      assert.equal((await put(`before-${i}`)).status, 200);
      before.push(`before-${i}`);
    }
    const minted = await mintKey(server, "minted", { role: "viewer" });
    let done = false;
    const writing = (async () => {
      for (let i = 0; !done; i++) assert.equal((await put(`during-${i % 500}`)).status, 200);
    })();
    const folder = temporaryFolder();
    const to = join(folder, "backup");
    const backup = await runProgram(["backup", to, "--data", server.dataDir]);
    done = true;
    await writing;
    assert.equal(backup.code, 0, backup.stderr);
    assert.equal(statSync(join(to, "admin.key")).mode & 0o777, 0o600);

    const second = await startServer({ data: to });
    assert.equal(second.adminKey, server.adminKey);
    for (const name of before) {
      const there = await rest(server, server.adminKey, "GET", `/v1/catalog/workspace/${name}`);
      const copied = await rest(second, second.adminKey, "GET", `/v1/catalog/workspace/${name}`);
      assert.deepEqual(copied.body, there.body);
    }
    assert.equal((await rest(second, minted, "GET", "/v1/whoami")).status, 200);
    const history = await rest(second, second.adminKey, "GET", "/v1/audit?pageSize=200");
    assert.ok(history.body.records.length >= 100);
    // The two are apart from now on.
    const body = { payload: encode({ displayName: "changed" }) };
    assert.equal(
      (await rest(second, second.adminKey, "POST", "/v1/catalog/workspace/before-0", body)).status,
      200,
    );
    const original = await rest(server, server.adminKey, "GET", "/v1/catalog/workspace/before-0");
    assert.equal(decode(original.body.payload).displayName, "before-0");
  });
});

describe("/metrics", () => {
  let server: TestServer;
  before(async () => {
    server = await startServer();
  });

  test("needs a key with audit:read", async () => {
    const none = await rest(server, undefined, "GET", "/metrics");
    assert.deepEqual([none.status, none.body.code], [401, 16]);
    const viewer = await mintKey(server, "viewer", { role: "viewer" });
    const refused = await rest(server, viewer, "GET", "/metrics");
    assert.deepEqual([refused.status, refused.body.details[0].metadata.scope], [403, "audit:read"]);
    const reader = await mintKey(server, "reader", { scopes: ["audit:read"] });
    const response = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${reader}` } });
    assert.equal(response.status, 200);
    assert.match(response.headers.get("content-type") ?? "", /^text\/plain/);
    const text = await response.text();
    assert.match(
      text,
      /^retinue_rpc_duration_seconds_count\{method="CatalogService\/PutResource",code="OK"\} [1-9]/m,
    );
    assert.match(text, /^retinue_bad_keys_total [1-9]/m);
  });

  test("names no tenant, account or key", async () => {
    const response = await fetch(`${server.url}/metrics`, {
      headers: { authorization: `Bearer ${server.adminKey}` },
    });
    const { keyId } = (await rest(server, server.adminKey, "GET", "/v1/whoami")).body;
    const text = await response.text();
    for (const word of ["local", "admin", keyId]) assert.ok(!text.includes(word), word);
  });

  test("--metrics-loopback opens it to this machine, and no header makes another machine this one", async () => {
    const server = await startServer({ metricsToLoopback: true, host: "0.0.0.0" });
    const { port } = new URL(server.url);
    assert.equal((await fetch(`http://127.0.0.1:${port}/metrics`)).status, 200);
    assert.equal((await fetch(`http://127.0.0.1:${port}/v1/whoami`)).status, 401, "that and nothing else");
    const outside = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .find(({ family, internal }) => family === "IPv4" && !internal);
    if (outside === undefined) return;
    const headers = { "x-forwarded-for": "127.0.0.1", "x-real-ip": "127.0.0.1", forwarded: "for=127.0.0.1" };
    const response = await fetch(`http://${outside.address}:${port}/metrics`, { headers });
    await server.close(0);
    assert.equal(response.status, 401);
  });

  for (const [value, open] of [
    ["false", false],
    ["0", false],
    ["", false],
    ["true", true],
    ["1", true],
  ] as const) {
    test(`RETINUE_METRICS_LOOPBACK='${value}' ${open ? "means" : "does not mean"} --metrics-loopback`, () => {
      assert.equal(configFrom([], { RETINUE_METRICS_LOOPBACK: value }).metricsToLoopback, open);
    });
  }
});

describe("without a key", () => {
  let server: TestServer;
  let registry: FileRegistry;
  let methods: DescMethod[];
  before(async () => {
    server = await startServer();
    const response = await fetch(`${server.url}/descriptor.binpb`);
    assert.equal(response.status, 200);
    const set = fromBinary(FileDescriptorSetSchema, new Uint8Array(await response.arrayBuffer()));
    // Throws unless every import is in the set: one can generate a client from it, and from nothing else.
    registry = createFileRegistry(set);
    methods = [...registry].flatMap((type) => (type.kind === "service" ? type.methods : []));
  });

  const transport = () => createGrpcTransport({ baseUrl: server.url });

  test("/descriptor.binpb holds every service of retinue.v1 and all that they need", () => {
    const services = [...registry].filter((type) => type.kind === "service").map((type) => type.typeName);
    for (const name of ["Agent", "Audit", "Catalog", "Identity", "Task", "Timeline"]) {
      assert.ok(services.includes(`retinue.v1.${name}Service`), name);
    }
  });

  test("health tells that it serves, for the server and for each service", async () => {
    const health = createClient(Health, transport());
    const services = [...registry].filter((type) => type.kind === "service").map((type) => type.typeName);
    for (const service of ["", ...services]) {
      assert.equal((await health.check({ service })).status, Serving.SERVING, service);
    }
    await assert.rejects(health.check({ service: "retinue.v1.Nothing" }), { code: 5 });
  });

  for (const [version, service] of [
    ["v1", ServerReflection],
    ["v1alpha", ServerReflectionAlpha as unknown as typeof ServerReflection],
  ] as const) {
    test(`reflection ${version} lists the services and has their files`, async () => {
      const client = createClient(service, transport());
      const questions = [
        { messageRequest: { case: "listServices" as const, value: "" } },
        { messageRequest: { case: "fileContainingSymbol" as const, value: "retinue.v1.CatalogService" } },
      ];
      const answers = [];
      for await (const answer of client.serverReflectionInfo(
        (async function* () {
          yield* questions;
        })(),
      )) {
        answers.push(answer.messageResponse);
      }
      const [list, file] = answers;
      assert.ok(list?.case === "listServicesResponse");
      const names = list.value.service.map(({ name }) => name);
      for (const { typeName } of methods.map(({ parent }) => parent))
        assert.ok(names.includes(typeName), typeName);
      assert.ok(names.includes("grpc.health.v1.Health"));
      assert.ok(file?.case === "fileDescriptorResponse");
      const files = file.value.fileDescriptorProto.map(
        (bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name,
      );
      assert.ok(files.includes("retinue/v1/catalog_service.proto"));
    });
  }

  test("every RPC is UNAUTHENTICATED in every protocol", async () => {
    assert.ok(methods.length >= 20, `${methods.length} methods`);
    for (const method of methods.filter(({ methodKind }) => methodKind === "unary")) {
      for (const wire of WIRES) {
        const message = wire.format === "json" ? Buffer.from("{}") : Buffer.alloc(0);
        const outcome = await wire.send(server.url, method, message);
        assert.ok(
          "fault" in outcome && outcome.fault.code === 16,
          `${method.name}, ${wire.name}: ${JSON.stringify(outcome)}`,
        );
      }
    }
    for (const method of methods.filter(({ methodKind }) => methodKind !== "unary")) {
      for (const client of openClients(server.url)) {
        const outcome = await client.first(method, {});
        assert.ok(
          "fault" in outcome && outcome.fault.code === 16,
          `${method.name}, ${client.name}: ${JSON.stringify(outcome)}`,
        );
      }
    }
  });

  test("every path of /v1 that the descriptors have is UNAUTHENTICATED, over both versions of HTTP", async () => {
    const routes = methods
      .filter((method) => hasOption(method, httpRule))
      .map((method) => getOption(method, httpRule))
      .flatMap((rule) => [rule, ...rule.additionalBindings])
      .map(({ pattern }) => pattern);
    assert.ok(routes.length >= 20, `${routes.length} paths`);
    for (const { case: verb, value } of routes) {
      assert.ok(verb !== undefined && verb !== "custom");
      const path = value.replace(/\{[^}]*kind\}/, "workspace").replace(/\{[^}]*\}/g, "x");
      for (const version of ["1.1", "2"] as const) {
        const reply = await exchange(server.url, version, { method: verb.toUpperCase(), path });
        assert.equal(reply.status, 401, `${verb} ${path}: ${reply.body.toString()}`);
      }
    }
  });

  test("nothing is told about what exists: kinds, names, tenants, bodies", async () => {
    for (const path of [
      "/v1/catalog/workspace/default",
      "/v1/catalog/workspace/nothing",
      "/v1/catalog/nothing/x",
      "/v1/catalog/token",
    ]) {
      const reply = await rest(server, undefined, "GET", path);
      assert.deepEqual([reply.status, reply.body.details[0].reason], [401, "INVALID_KEY"], path);
    }
  });

  test("the tools of the agents are not there for everybody", async () => {
    const body = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const reply = await rest(server, undefined, "POST", "/mcp", body);
    assert.deepEqual([reply.status, reply.body.code], [401, 16]);
  });

  test("nothing else is served", async () => {
    const paths = [
      "/",
      "/index.html",
      "/favicon.ico",
      "/health",
      "/healthz",
      "/debug/pprof",
      "/admin.key",
      "/data/admin.key",
    ];
    const climbing = [
      "/../admin.key",
      "/descriptor.binpb/../../package.json",
      "/%2e%2e/admin.key",
      "/.env",
      "/gen/descriptor.binpb",
    ];
    for (const path of [...paths, ...climbing]) {
      const reply = await exchange(server.url, "1.1", { path });
      assert.equal(reply.status, 404, path);
    }
  });
});

describe("secrets", () => {
  test("none is in what the server prints at --log-level trace, whatever is done with it", async () => {
    const server = await startServe({ args: ["--log-level", "trace"] });
    const admin = server.adminKey;
    const minted = await mintKey(server as unknown as TestServer, "minted", { role: "viewer" });
    for (const client of openClients(server.url)) {
      await client.unary(IdentityService.method.whoami, {}, minted);
    }
    await rest(server, minted, "POST", "/v1/agent/kill", {});
    await rest(server, `${minted}x`, "GET", "/v1/whoami");
    await rest(server, admin, "GET", `/v1/whoami?key=${minted}`);
    await rest(server, admin, "GET", `/v1/${minted}`);
    await rest(server, admin, "POST", "/v1/agents", { [minted]: minted });
    await rest(server, admin, "POST", "/v1/agents", `{"broken": "${minted}`);
    await rest(server, admin, "GET", `/v1/catalog/token/${encodeURIComponent(minted)}`);
    await exchange(server.url, "1.1", { path: "/metrics", headers: { authorization: `Bearer ${admin}` } });
    await exchange(server.url, "2", {
      path: "/v1/whoami",
      headers: { authorization: minted, cookie: minted },
    });
    const raw = net.connect(Number(new URL(server.url).port), "127.0.0.1");
    raw.end(`GET /v1/whoami HTTP/1.1\r\nauthorization: Bearer ${minted}\r\nbad header\r\n\r\n`);
    raw.resume();
    await once(raw, "close");
    assert.equal((await rest(server, admin, "DELETE", "/v1/catalog/token/minted")).status, 200);
    server.kill("SIGTERM");
    await server.exited;
    const printed = server.stdout() + server.stderr();
    assert.match(printed, /stopping/, "there is a log to look at");
    for (const key of [admin, minted]) {
      const secret = key.split(".")[1] as string;
      assert.ok(!printed.includes(secret), "a secret was printed");
    }
    const digest = /[0-9a-f]{64}/.exec(printed);
    assert.equal(digest, null, "nor a digest of one");
  });
});
