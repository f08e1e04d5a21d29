import { homedir } from "node:os";
import { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { ndJsonStream } from "@agentclientprotocol/sdk/unstable";
import { createScriptedAgent } from "./agent.js";

/** A script that hangs does not hold up the end. */
const GRACE_MS = 500;

// The embedded agent: a program of its own, started and driven like any other that speaks ACP over stdio.
const { app, stop } = createScriptedAgent(homedir());
let ending = false;

async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  await Promise.race([stop(), sleep(GRACE_MS)]);
  process.exit(0);
}

process.once("SIGTERM", end);
// Nobody reads any more: the server is gone.
process.stdout.on("error", end);
const output = Writable.toWeb(process.stdout);
const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
app.connect(ndJsonStream(output, input)).closed.then(end);
