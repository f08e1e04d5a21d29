import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

/** Compiled, this file lies in dist/test. */
const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** A file may import its own folder and lower ranks; folders of one rank do not know each other. */
const RANKS: Readonly<Record<string, number>> = {
  gen: 0,
  "src/domain": 1,
  "src/storage": 2,
  "src/runner": 2,
  "src/schemas": 2,
  "src/outbound": 2,
  "src/engine": 3,
  "src/services": 4,
  "src/transport": 5,
  "src/main": 6,
};

/** Clients like any other: generated code, and nothing else of ours. Only main knows that they are there. */
const CLIENTS = ["src/cli", "src/dashboard"];

/** What the command line is made of beside Node: nothing that a client elsewhere could not have. */
const CLI_PACKAGES = /^(node:.*|commander|yaml|@bufbuild\/protobuf(\/wkt)?|@connectrpc\/connect(-node)?)$/;

test("imports only ever point down", () => {
  assert.deepEqual(sources("src").flatMap(violations), []);
});

test("an import that points up is found", () => {
  assert.deepEqual(
    violation("src/domain/a.ts", "../engine/door.js"),
    "src/domain/a.ts imports src/engine/door.js",
  );
  assert.deepEqual(
    violation("src/storage/a.ts", "../runner/b.js"),
    "src/storage/a.ts imports src/runner/b.js",
  );
  assert.deepEqual(
    violation("src/cli/a.ts", "../domain/fault.js"),
    "src/cli/a.ts imports src/domain/fault.js",
  );
  assert.deepEqual(
    violation("src/dashboard/parts/a.tsx", "../../services/page.js"),
    "src/dashboard/parts/a.tsx imports src/services/page.js",
  );
  assert.deepEqual(violation("src/dashboard/state/a.ts", "../../../gen/retinue/v1/agent_pb.js"), undefined);
  assert.deepEqual(
    violation("src/engine/a.ts", "../cli/index.js"),
    "src/engine/a.ts imports src/cli/index.js",
  );
  assert.deepEqual(violation("src/engine/a.ts", "../domain/fault.js"), undefined);
  assert.deepEqual(violation("src/main/program.ts", "../cli/index.js"), undefined);
});

test("the command line is a Connect client and nothing more", () => {
  const others = sources("src/cli").flatMap((file) =>
    [...read(file).matchAll(/(?:from\s|import\s*\(?)\s*"([^."\n][^"\n]*)"/g)]
      .map((match) => match[1] as string)
      .filter((name) => !CLI_PACKAGES.test(name))
      .map((name) => `${file} imports ${name}`),
  );
  assert.deepEqual(others, []);
});

test("the engine knows ports, never an adapter", () => {
  const adapters = sources("src/engine").filter((file) =>
    /storage\/sqlite|runner\/(acp|git|scripted)/.test(read(file)),
  );
  assert.deepEqual(adapters, []);
});

test("only config reads the environment, by its flags, and one file of the command line", () => {
  const readers = sources("src").filter((file) => /process\.env\b/.test(read(file)));
  assert.deepEqual(readers, ["src/cli/environment.ts", "src/main/config.ts"]);
});

function violations(file: string): string[] {
  const imports = [...read(file).matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map(
    (match) => match[1] as string,
  );
  return imports.flatMap((specifier) => violation(file, specifier) ?? []);
}

function violation(file: string, specifier: string): string | undefined {
  const target = relative(root, resolve(root, dirname(file), specifier));
  const [from, to] = [areaOf(file), areaOf(target)];
  if (from === to || to === "gen") return undefined;
  if (from === "src/main" && CLIENTS.includes(to)) return undefined;
  const points = CLIENTS.includes(from) || (RANKS[to] ?? Number.POSITIVE_INFINITY) >= (RANKS[from] as number);
  return points ? `${file} imports ${target}` : undefined;
}

function areaOf(file: string): string {
  const parts = file.split("/");
  return parts[0] === "src" ? `src/${parts[1]}` : (parts[0] as string);
}

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name));
}

function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}
