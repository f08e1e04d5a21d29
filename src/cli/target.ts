import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Context, readContexts } from "./contexts.js";
import type { Environment } from "./environment.js";
import { CliError, EXIT, usageError } from "./exit.js";

/** The server that a command talks to. */
export interface Target extends Context {
  /** Set when nobody chose it: what to tell the person. */
  readonly notice: string | undefined;
}

const LOCAL_PORT = "8080";

/**
 * By `--context`, else the environment, else the current context, else a server on this machine with the admin key in
 * its data folder. That key is sent to this machine only.
 */
export function resolveTarget(environment: Environment, contextName: string | undefined): Target {
  if (contextName !== undefined) return named(environment, contextName);
  const { url, key } = environment;
  if (url !== undefined || key !== undefined) {
    const address = checkedUrl(url ?? localUrl(environment));
    if (key !== undefined) return { url: address, key, notice: undefined };
    return local(environment, address);
  }
  if (environment.context !== undefined) return named(environment, environment.context);
  const { current } = readContexts(environment);
  return current === undefined ? local(environment, localUrl(environment)) : named(environment, current);
}

export function checkedUrl(text: string): string {
  const withScheme = /^[a-z]+:\/\//.test(text)
    ? text
    : `${isLoopback(`http://${text}`) ? "http" : "https"}://${text}`;
  if (!URL.canParse(withScheme) || !/^https?:$/.test(new URL(withScheme).protocol)) {
    throw usageError(`${text} is no address of a server: write it as https://retinue.example.com`);
  }
  return withScheme.replace(/\/+$/, "");
}

export function isLoopback(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  return host === "localhost" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);
}

function named(environment: Environment, name: string): Target {
  const { contexts } = readContexts(environment);
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (context === undefined) {
    const known = Object.keys(contexts).join(", ") || "none";
    throw usageError(`there is no context ${name} (known: ${known})`, `retinue login URL --name ${name}`);
  }
  return { ...context, notice: undefined };
}

function localUrl({ port }: Environment): string {
  return `http://127.0.0.1:${port ?? LOCAL_PORT}`;
}

function local(environment: Environment, url: string): Target {
  if (!isLoopback(url)) throw new CliError(`there is no key for ${url}`, EXIT.denied, `retinue login ${url}`);
  const file = join(environment.data ?? "./data", "admin.key");
  try {
    const key = readFileSync(file, "utf8").trim();
    return { url, key, notice: `no context: using the key in ${file} with ${url}` };
  } catch {
    throw new CliError(
      `nobody is logged in, and there is no ${file} of a server on this machine`,
      EXIT.denied,
      "retinue login URL; or start a server here with retinue serve; or see it all at once with retinue demo",
    );
  }
}
