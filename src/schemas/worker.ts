// Entry of a thread that may be ended at any moment: nothing here is worth keeping.
import { type MessagePort, parentPort } from "node:worker_threads";
import { checkSchema, validateValue } from "./compile.js";
import type { ThreadReply, ThreadRequest } from "./thread.js";

const port = parentPort as MessagePort;

port.on("message", ({ schema, value }: ThreadRequest) => {
  const violation = value === undefined ? checkSchema(schema) : validateValue(schema, value);
  port.postMessage({ violation } satisfies ThreadReply);
});
// The first schema costs more than all others, since the meta-schema is compiled with it: let it be this one.
checkSchema("{}");
port.postMessage("ready");
