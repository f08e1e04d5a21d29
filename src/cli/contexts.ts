import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse, stringify } from "yaml";
import type { Environment } from "./environment.js";
import { CliError, EXIT } from "./exit.js";

/** A server that somebody logged in to. */
export interface Context {
  readonly url: string;
  readonly key: string;
}

export interface Contexts {
  readonly current: string | undefined;
  readonly contexts: Readonly<Record<string, Context>>;
}

export function contextsFile(environment: Environment): string {
  return join(environment.configHome, "retinue", "contexts.yaml");
}

export function readContexts(environment: Environment): Contexts {
  const file = contextsFile(environment);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { current: undefined, contexts: {} };
    throw error;
  }
  const { current, contexts = {} } = (parse(text) ?? {}) as Partial<Contexts>;
  if (!Object.values(contexts).every(({ url, key }) => typeof url === "string" && typeof key === "string")) {
    throw new CliError(
      `${file} is damaged: every context has a url and a key`,
      EXIT.usage,
      "mend or delete it",
    );
  }
  return { current, contexts };
}

/** Keys stand in it: nobody else may read it, not even for a moment; and a crash leaves the old file or the new one. */
export function writeContexts(environment: Environment, contexts: Contexts): void {
  const file = contextsFile(environment);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, stringify(contexts), { mode: 0o600, flush: true });
  renameSync(temporary, file);
}
