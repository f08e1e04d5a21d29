import { resolve } from "node:path";
import type { Config } from "./config.js";
import { createLog, openRetinue } from "./main.js";

/** SIGTERM must have ended everything within 15 s, whatever clients do. */
const STOP_WITHIN_MS = 14_000;

export async function serve(config: Config): Promise<void> {
  const log = createLog(config.logLevel);
  // Asked first: a stop that comes while the server starts is a stop, too.
  const opening = openRetinue({
    config,
    log,
    onFatal(error) {
      // What is on disk is unknown: acknowledge nothing more, and let the next start find out.
      log.fatal({ err: error }, "the store failed");
      process.exit(1);
    },
  });

  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, "stopping");
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    opening
      .then((retinue) => retinue.close())
      .then(
        () => process.exit(0),
        (err: unknown) => {
          log.error({ err }, "could not stop cleanly");
          process.exit(1);
        },
      );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  const retinue = await opening;
  if (stopping) return;

  // Whoever reads our lines may stop reading; that is no reason to stop serving.
  process.stdout.on("error", () => {});
  const url = config.publicUrl ?? retinue.url;
  const keyFile = shellQuoted(resolve(retinue.adminKeyFile));
  console.log(`listening on ${retinue.url}`);
  console.log(`page: ${url}/ui  (sign in with the key in ${keyFile})`);
  console.log(`try:  curl -H "Authorization: Bearer $(cat ${keyFile})" ${url}/v1/whoami`);
}

/** A path as one word of a shell, whatever is in it. */
function shellQuoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
