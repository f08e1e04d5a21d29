import { spawn } from "node:child_process";
import { chmod, mkdir, open, rm, writeFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { Transform } from "node:stream";
import { fileURLToPath } from "node:url";
import { quoted } from "../shell-word.js";
import { HARDENED } from "./git.js";

/** The way from an agent's view to its `origin`: a socket that nobody else is shown. */
export interface Gate {
  close(): Promise<void>;
}

export interface GateOptions {
  readonly folder: string;
  /** The repository behind a name; undefined: there is none. */
  readonly originOf: (repo: string) => string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** git has taken what was pushed; resolves once it is recorded. */
  readonly onReceived: (repo: string) => Promise<void>;
}

const CLIENT = fileURLToPath(new URL("./gate-client.js", import.meta.url));
const SERVICES = new Set(["git-receive-pack", "git-upload-pack"]);
const GREETING_BYTES = 4096;

/** What the agent must be shown of the server's code. */
export const GATE_PROGRAM: readonly string[] = [CLIENT, process.execPath];

export async function openGate(options: GateOptions): Promise<Gate> {
  const { folder } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const program = join(folder, "origin");
  // Written anew each time: the server may have moved.
  const command = [process.execPath, CLIENT, folder].map(quoted).join(" ");
  await writeFile(program, `#!/bin/sh\nexec ${command} "$@"\n`);
  await chmod(program, 0o755);
  await rm(join(folder, "origin.sock"), { force: true });
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    serve(socket, options);
  });
  // Named through the folder's descriptor, since the path of a socket has at most 107 bytes.
  const handle = await open(folder);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(`/proc/self/fd/${handle.fd}/origin.sock`, resolve);
    });
  } finally {
    await handle.close();
  }
  return {
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** The first line says what is wanted; the rest is git's. */
function serve(socket: Socket, options: GateOptions): void {
  let greeting = Buffer.alloc(0);
  socket.on("data", function onData(chunk: Buffer) {
    greeting = Buffer.concat([greeting, chunk]);
    const end = greeting.indexOf("\n");
    if (end < 0 && greeting.length <= GREETING_BYTES) return;
    socket.off("data", onData);
    socket.pause();
    const { service, repo } = wanted(greeting.subarray(0, Math.max(0, end)));
    const origin = options.originOf(repo);
    if (!SERVICES.has(service) || origin === undefined) {
      socket.destroy();
      return;
    }
    socket.unshift(greeting.subarray(end + 1));
    run(socket, service, repo, origin, options);
  });
}

function run(socket: Socket, service: string, repo: string, origin: string, options: GateOptions): void {
  // The one hook that runs is the server's own: no agent can write here.
  const settings = [...HARDENED, "-c", `core.hooksPath=${join(origin, "hooks")}`];
  const args = [...settings, service.slice("git-".length), origin];
  const child = spawn("git", args, { env: options.env, cwd: origin, stdio: ["pipe", "pipe", "ignore"] });
  socket.pipe(child.stdin);
  child.stdout.pipe(inPieces()).pipe(socket, { end: false });
  for (const stream of [child.stdin, child.stdout]) stream.on("error", () => {});
  // An agent that goes away takes its half-sent push along; git cleans up behind itself on TERM.
  socket.once("close", () => child.kill());
  const finish = (status: number) => {
    if (!socket.destroyed) socket.end(Buffer.from([0, 0, 0, 0, status]));
  };
  child.once("error", () => finish(1));
  child.once("close", async (code) => {
    // Told even when the agent is gone: the branch may have moved.
    const recorded =
      service === "git-upload-pack" ||
      (await options.onReceived(repo).then(
        () => true,
        () => false,
      ));
    finish(recorded && code === 0 ? 0 : 1);
  });
}

/** Each piece behind its length, so that the status can follow the last. */
function inPieces(): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(chunk.length);
      done(null, Buffer.concat([length, chunk]));
    },
  });
}

function wanted(line: Buffer): { service: string; repo: string } {
  try {
    const { service, repo } = JSON.parse(line.toString("utf8")) as Record<string, unknown>;
    return { service: String(service), repo: String(repo) };
  } catch {
    return { service: "", repo: "" };
  }
}
