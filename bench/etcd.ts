import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { probe } from "./probe.js";
import { isInstalled, type ServerProcess, stopChild, track } from "./process.js";
import { framed, type RequestShape } from "./requests.js";

const START_WITHIN_MS = 20_000;

export interface Etcd extends ServerProcess {
  /** Writes if the key has a version: raft log, synced before the answer. */
  readonly conditionalWrite: RequestShape;
}

/** Undefined where etcd is not installed (Debian's etcd-server). */
export async function startEtcd(tempDir: string): Promise<Etcd | undefined> {
  if (!isInstalled("etcd")) return undefined;
  const [port, peerPort] = [await freePort(), await freePort()];
  const url = (at: number) => `http://127.0.0.1:${at}`;
  const args = [
    ["--data-dir", join(tempDir, "etcd")],
    ["--listen-client-urls", url(port), "--advertise-client-urls", url(port)],
    ["--listen-peer-urls", url(peerPort), "--initial-advertise-peer-urls", url(peerPort)],
    ["--initial-cluster", `default=${url(peerPort)}`, "--log-level", "error"],
  ].flat();
  // Needed, and only heeded, where etcd is not officially supported.
  const env = { ...process.env, ETCD_UNSUPPORTED_ARCH: "arm64" };
  const child = track(spawn("etcd", args, { stdio: "ignore", env }));
  const put = shape(tempDir, "etcd.put", "Put", putRequest());
  const giveUpAt = performance.now() + START_WITHIN_MS;
  while (!(await answers(port, put))) {
    if (performance.now() > giveUpAt) throw new Error("etcd does not answer");
    await sleep(100);
  }
  const conditionalWrite = shape(tempDir, "etcd.txn", "Txn", txnRequest());
  return { pid: child.pid as number, port, stop: () => stopChild(child), conditionalWrite };
}

/** Field numbers as in etcd's rpc.proto and kv.proto. */
function putRequest(): Uint8Array {
  const value = JSON.stringify({
    kind: "workspace",
    repos: ["acme/app"],
    base: "main",
    pad: "x".repeat(120),
  });
  return new BinaryWriter().tag(1, 2).string("k").tag(2, 2).string(value).finish();
}

function txnRequest(): Uint8Array {
  const greaterThanVersion0 = new BinaryWriter().tag(1, 0).int32(1).tag(3, 2).string("k").tag(4, 0).int64(0);
  const put = new BinaryWriter().tag(2, 2).bytes(putRequest());
  return new BinaryWriter()
    .tag(1, 2)
    .bytes(greaterThanVersion0.finish())
    .tag(2, 2)
    .bytes(put.finish())
    .finish();
}

function shape(tempDir: string, name: string, method: string, message: Uint8Array): RequestShape {
  const body = framed(message);
  const bodyFile = join(tempDir, name);
  writeFileSync(bodyFile, body);
  return { protocol: "grpc", paths: [`/etcdserverpb.KV/${method}`], body, bodyFile };
}

function answers(port: number, put: RequestShape): Promise<boolean> {
  return probe(port, put, "").then(
    () => true,
    () => false,
  );
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
