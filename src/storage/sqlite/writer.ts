// Entry of the writer's thread, the only one that writes: a sync blocks, and here it blocks nobody else.
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { createBatchWriter } from "./apply-batch.js";
import type { WriterReply, WriterRequest } from "./batch.js";
import { openForWriting, portableError } from "./connection.js";
import { databaseFile } from "./data-dir.js";
import { findRoom, makeRoom } from "./room.js";

const { dataDir } = workerData as { dataDir: string };
const port = parentPort as MessagePort;

function start(): void {
  const db = openForWriting(databaseFile(dataDir));
  const applyBatch = createBatchWriter(db);

  function handle(request: WriterRequest): void {
    if (request.type === "close") {
      db.close();
      port.close();
      return;
    }
    const reply: WriterReply = findRoom(db, dataDir) ? applyBatch(request.commits) : { type: "full" };
    if (reply.type === "full") makeRoom(db, dataDir);
    answer(reply);
  }

  port.on("message", (request: WriterRequest) => orDie(() => handle(request)));
  answer({ type: "ready" });
}

function answer(reply: WriterReply): void {
  port.postMessage(reply);
}

/** Whatever is thrown here ends the thread and is reported to the main thread. */
function orDie(work: () => void): void {
  try {
    work();
  } catch (error) {
    throw portableError(error);
  }
}

orDie(start);
