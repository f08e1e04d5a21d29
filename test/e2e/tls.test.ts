import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import tls from "node:tls";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import grpc from "@grpc/grpc-js";
import { IdentityService } from "../../gen/retinue/v1/identity_service_pb.js";
import { callGrpcJs, connectClient, exchange, openGrpcJs, type TlsOptions } from "../support/clients.js";
import { temporaryFolder } from "../support/folder.js";
import { listeningPorts } from "../support/listening-ports.js";
import {
  configFrom,
  printed,
  refusalOf,
  runProgram,
  type ServeProgram,
  startServe,
} from "../support/process.js";
import { rest, startServer } from "../support/server.js";

const { whoami } = IdentityService.method;

/** A CA, a server and a client that it has signed, and a stranger that has signed itself. */
const folder = temporaryFolder();
const file = (name: string) => join(folder, name);

function makeCertificates(): void {
  const make = (name: string, ...more: string[]) => {
    const key = [
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-keyout",
      `${name}.key`,
    ];
    const args = [
      "req",
      "-x509",
      ...key,
      "-out",
      `${name}.crt`,
      "-days",
      "2",
      "-subj",
      `/CN=${name}`,
      ...more,
    ];
    execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  };
  const signed = ["-CA", "ca.crt", "-CAkey", "ca.key", "-addext", "basicConstraints=critical,CA:FALSE"];
  make("ca");
  make("server", ...signed, "-addext", "subjectAltName=IP:127.0.0.1");
  make("client", ...signed);
  make("stranger");
}

let ca: Buffer;
const certificate = (name: string): Required<TlsOptions> => ({
  ca,
  cert: readFileSync(file(`${name}.crt`)),
  key: readFileSync(file(`${name}.key`)),
});
const SERVER_FLAGS = ["--tls-cert", file("server.crt"), "--tls-key", file("server.key")];

before(() => {
  makeCertificates();
  ca = readFileSync(file("ca.crt"));
});

/** Who the server says that the key belongs to, in each protocol. */
async function assertServes(server: ServeProgram, options: TlsOptions): Promise<void> {
  const headers = { authorization: `Bearer ${server.adminKey}` };
  for (const version of ["1.1", "2"] as const) {
    const reply = await exchange(server.url, version, { path: "/v1/whoami", headers }, options);
    assert.equal(JSON.parse(reply.body.toString()).account, "admin", `/v1 over HTTP/${version}`);
  }
  const node = { baseUrl: server.url, nodeOptions: options };
  const clients = [
    connectClient("gRPC", createGrpcTransport(node)),
    connectClient("gRPC-Web, HTTP/1.1", createGrpcWebTransport({ ...node, httpVersion: "1.1" })),
    connectClient("Connect, HTTP/1.1", createConnectTransport({ ...node, httpVersion: "1.1" })),
    connectClient("Connect, HTTP/2", createConnectTransport({ ...node, httpVersion: "2" })),
  ];
  for (const client of clients) {
    const outcome = await client.unary(whoami, {}, server.adminKey);
    assert.ok("answer" in outcome, `${client.name}: ${JSON.stringify(outcome)}`);
  }
  const credentials = grpc.credentials.createSsl(options.ca, options.key ?? null, options.cert ?? null);
  const outcome = await callGrpcJs(openGrpcJs(server.url, credentials), whoami, {}, server.adminKey);
  assert.ok("answer" in outcome, `grpc-js: ${JSON.stringify(outcome)}`);
}

async function assertRefuses(server: ServeProgram, options: TlsOptions): Promise<void> {
  const headers = { authorization: `Bearer ${server.adminKey}` };
  for (const version of ["1.1", "2"] as const) {
    await assert.rejects(
      exchange(server.url, version, { path: "/v1/whoami", headers }, options),
      `HTTP/${version}`,
    );
  }
  const credentials = grpc.credentials.createSsl(options.ca, options.key ?? null, options.cert ?? null);
  const outcome = await callGrpcJs(openGrpcJs(server.url, credentials), whoami, {}, server.adminKey);
  assert.ok("fault" in outcome && outcome.fault.code === 14, JSON.stringify(outcome));
}

describe("--tls-cert and --tls-key", () => {
  let server: ServeProgram;
  before(async () => {
    server = await startServe({ args: SERVER_FLAGS });
  });

  test("it says that it listens on https", () => {
    assert.match(server.stdout(), /^listening on https:\/\/127\.0\.0\.1:\d+$/m);
  });

  test("/v1, Connect, gRPC-Web and gRPC are served over HTTP/1.1 and HTTP/2", async () => {
    await assertServes(server, { ca });
  });

  test("the printed curl line works where the authority is trusted", async () => {
    const line = await printed(server, /(curl .*)\n/);
    const answer = await new Promise<string>((resolve, reject) => {
      const env = { ...process.env, CURL_CA_BUNDLE: file("ca.crt") };
      execFile("bash", ["-c", line], { env }, (error, stdout) => (error ? reject(error) : resolve(stdout)));
    });
    assert.equal(JSON.parse(answer).account, "admin");
  });

  test("a client that does not trust the authority does not talk to it", async () => {
    await assert.rejects(fetch(`${server.url}/v1/whoami`));
  });

  test("cleartext on the same port is not answered", async () => {
    const { port } = new URL(server.url);
    const received = await new Promise<string>((resolve) => {
      const chunks: Buffer[] = [];
      const socket = net.connect(Number(port), "127.0.0.1", () =>
        socket.write("GET /v1/whoami HTTP/1.1\r\nhost: x\r\n\r\n"),
      );
      socket.on("data", (chunk) => chunks.push(chunk));
      socket.on("error", () => {});
      socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
    });
    assert.doesNotMatch(received, /HTTP/);
  });

  test("versions of TLS that are broken are refused", async () => {
    const { port } = new URL(server.url);
    const options = {
      port: Number(port),
      host: "127.0.0.1",
      ca,
      maxVersion: "TLSv1.1",
      minVersion: "TLSv1",
    } as const;
    const outcome = await new Promise<string>((resolve) => {
      const socket = tls.connect({ ...options, ciphers: "DEFAULT@SECLEVEL=0" }, () => resolve("connected"));
      socket.on("error", (error) => resolve(error.message));
    });
    assert.match(outcome, /alert|version|protocol/i);
  });

  test("a key is still needed", async () => {
    const reply = await exchange(server.url, "2", { path: "/v1/whoami" }, { ca });
    assert.equal(reply.status, 401);
  });

  test("SIGTERM stops it with connections open, exit code 0", async () => {
    const socket = tls.connect({
      port: Number(new URL(server.url).port),
      host: "127.0.0.1",
      ca,
      ALPNProtocols: ["h2"],
    });
    await new Promise((resolve) => socket.once("secureConnect", resolve));
    socket.on("error", () => {});
    server.kill("SIGTERM");
    assert.equal((await server.exited).code, 0);
    socket.destroy();
  });
});

describe("--tls-client-ca", () => {
  let server: ServeProgram;
  before(async () => {
    server = await startServe({ args: [...SERVER_FLAGS, "--tls-client-ca", file("ca.crt")] });
  });

  test("a client that the authority has signed is served in every protocol", async () => {
    await assertServes(server, certificate("client"));
  });

  test("a client without a certificate is refused in every protocol", async () => {
    await assertRefuses(server, { ca });
  });

  test("a client that has signed itself is refused in every protocol", async () => {
    await assertRefuses(server, certificate("stranger"));
  });

  test("agents, who have no certificate, use their tools; nobody else gets anything from their port", async () => {
    const headers = { authorization: `Bearer ${server.adminKey}`, "content-type": "application/json" };
    const ask = async (operation: string, more: object) => {
      const body = JSON.stringify({ agentId: { agent: ["painter"] }, ...more });
      const request = { method: "POST", path: `/v1/agent/${operation}`, headers, body };
      const reply = await exchange(server.url, "1.1", request, certificate("client"));
      return JSON.parse(reply.body.toString());
    };
    await ask("spawn", {
      description: "@addtask paint Paint the shed\n@task paint completed\n@complete blue",
    });
    const { reason, status } = await ask("wait", { timeout: "30s" });
    assert.equal(reason, "WAIT_REASON_COMPLETED", JSON.stringify(status));
    assert.deepEqual(
      status.tasks.map((task: { id: string; status: string }) => [task.id, task.status]),
      [["paint", "TASK_STATUS_COMPLETED"]],
    );

    const own = new URL(server.url).host;
    const [agents, ...more] = listeningPorts(server.pid).filter((address) => address !== own);
    assert.match(agents ?? "none", /^127\.0\.0\.1:/);
    assert.deepEqual(more, []);
    const url = `http://${agents}`;
    assert.equal((await exchange(url, "1.1", { path: "/v1/whoami", headers })).status, 404);
    assert.equal((await exchange(url, "1.1", { method: "POST", path: "/mcp", body: "{}" })).status, 401);
  });
});

describe("TLS that is set up wrongly is refused, and the line says which flag and why", () => {
  const rows: readonly (readonly [sentence: string, args: () => string[], text: RegExp])[] = [
    [
      "a certificate without a key",
      () => ["--tls-cert", file("server.crt")],
      /--tls-cert and --tls-key go together/,
    ],
    [
      "a key without a certificate",
      () => ["--tls-key", file("server.key")],
      /--tls-cert and --tls-key go together/,
    ],
    ["a client CA alone", () => ["--tls-client-ca", file("ca.crt")], /--tls-cert and --tls-key go together/],
    [
      "a file that is not there",
      () => ["--tls-cert", file("nothing.crt"), "--tls-key", file("server.key")],
      /--tls-cert.*nothing\.crt/,
    ],
    ["a folder", () => ["--tls-cert", folder, "--tls-key", file("server.key")], /--tls-cert/],
    [
      "a file that is no certificate",
      () => ["--tls-cert", file("garbage"), "--tls-key", file("server.key")],
      /--tls-cert.*garbage/,
    ],
    [
      "a file that is no key",
      () => ["--tls-cert", file("server.crt"), "--tls-key", file("garbage")],
      /--tls-key.*garbage/,
    ],
    [
      "a key that is not the certificate's",
      () => ["--tls-cert", file("server.crt"), "--tls-key", file("client.key")],
      /--tls-key.*(match|belong|fit)/,
    ],
    [
      "a client CA that is none",
      () => [...SERVER_FLAGS, "--tls-client-ca", file("garbage")],
      /--tls-client-ca.*garbage/,
    ],
  ];
  for (const [sentence, args, text] of rows) {
    test(sentence, async () => {
      writeFileSync(file("garbage"), "this is not PEM\n");
      assert.match(await refusalOf(args()), text);
    });
  }
});

describe("an address that others can reach", () => {
  test("--host 0.0.0.0 without TLS is refused: exit code 1, and one line that says what to do", async () => {
    const data = join(temporaryFolder(), "data");
    const ended = await runProgram(["serve", "--port", "0", "--data", data, "--host", "0.0.0.0"]);
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, /^retinue: --host 0\.0\.0\.0 .*--tls-cert.*--tls-key.*--insecure\n$/);
    assert.equal(ended.stdout, "");
  });

  for (const host of [
    "::",
    "192.0.2.1",
    "example.com",
    "localhost.example.com",
    "1.127.0.1",
    "::ffff:0.0.0.0",
    "",
  ]) {
    test(`--host '${host}' without TLS is refused`, () => {
      assert.throws(() => configFrom(["--host", host]), /--host.*--tls-cert.*--tls-key.*--insecure/);
    });
  }

  for (const value of ["false", "0", "no", ""]) {
    test(`RETINUE_INSECURE='${value}' does not mean --insecure`, () => {
      assert.throws(
        () => configFrom(["--host", "192.0.2.1"], { RETINUE_INSECURE: value }),
        /INSECURE|--insecure/,
      );
    });
  }

  test("RETINUE_INSECURE='true' does", () => {
    assert.equal(configFrom(["--host", "192.0.2.1"], { RETINUE_INSECURE: "true" }).host, "192.0.2.1");
  });

  test("TLS allows it", () => {
    assert.equal(configFrom(["--host", "192.0.2.1", ...SERVER_FLAGS]).host, "192.0.2.1");
  });

  test("--insecure allows it", async () => {
    const server = await startServe({ args: ["--host", "0.0.0.0", "--insecure", "--allow-unsandboxed"] });
    assert.match(server.url, /^http:\/\/0\.0\.0\.0:\d+$/);
    const local = { url: server.url.replace("0.0.0.0", "127.0.0.1") };
    assert.equal((await rest(local, server.adminKey, "GET", "/v1/whoami")).status, 200);
    server.kill("SIGTERM");
    assert.equal((await server.exited).code, 0);
  });

  for (const host of ["127.0.0.2", "localhost", "::1"]) {
    test(`--host ${host} needs nothing, and its address works`, async () => {
      assert.equal(configFrom(["--host", host]).host, host);
      const server = await startServer({ host });
      assert.equal((await rest(server, server.adminKey, "GET", "/v1/whoami")).status, 200);
    });
  }
});
