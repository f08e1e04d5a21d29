import { parseArgs } from "node:util";
import { benchQueue } from "./queue.js";
import { benchRpc } from "./rpc.js";

/** How long and how often to measure. */
export interface BenchOptions {
  readonly rounds: number;
  readonly seconds: number;
  /** Before a case is measured for the first time, while the server's code is still being compiled. */
  readonly warmUpSeconds: number;
  /** Only to see that everything runs. */
  readonly quick: boolean;
}

interface Bench {
  readonly about: string;
  /** Throws when something could not be measured; a number that is worse than wanted is not that. */
  run(options: BenchOptions): Promise<void>;
}

const BENCHES: Readonly<Record<string, Bench>> = {
  rpc: {
    about: "whoami, catalog read and durable catalog write beside servers that do nothing",
    run: benchRpc,
  },
  queue: {
    about: "durable queue-add, idle watchers and waiters, and a store with a long past",
    run: benchQueue,
  },
};

const USAGE = [
  "npm run bench -- <name> [--rounds 3] [--seconds 3] [--quick]",
  "",
  ...Object.entries(BENCHES).map(([name, { about }]) => `  ${name.padEnd(8)} ${about}`),
  "",
  "--quick measures once and shortly: enough to see that everything runs, not to compare numbers.",
].join("\n");

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { rounds: { type: "string" }, seconds: { type: "string" }, quick: { type: "boolean" } },
  });
  const [name] = positionals;
  if (name === undefined) return console.log(USAGE);
  const bench = BENCHES[name];
  if (bench === undefined) throw new Error(`there is no bench '${name}'\n\n${USAGE}`);
  await bench.run({
    rounds: positive("--rounds", values.rounds, values.quick ? 1 : 3),
    seconds: positive("--seconds", values.seconds, values.quick ? 1 : 3),
    warmUpSeconds: values.quick ? 1 : 2,
    quick: values.quick === true,
  });
}

function positive(flag: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (Number.isInteger(value) && value > 0 && value <= 60) return value;
  throw new Error(`${flag} must be a whole number from 1 to 60, not '${text}'`);
}

try {
  await main();
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
