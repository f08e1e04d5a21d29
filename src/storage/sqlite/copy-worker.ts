// Entry of a short-lived thread: a copy of a large store takes seconds, which the main thread has not.
import { workerData } from "node:worker_threads";
import { portableError } from "./connection.js";
import { copyDatabase } from "./copy-database.js";

const { from, to } = workerData as { from: string; to: string };
try {
  copyDatabase(from, to);
} catch (error) {
  throw portableError(error);
}
