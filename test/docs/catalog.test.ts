import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { KINDS } from "../../src/domain/catalog/kinds/index.js";
import { createAgentCaller } from "../support/agents.js";
import { decode, encode, rest, startServer, type TestServer } from "../support/server.js";
import { EXAMPLES } from "./catalog-examples.js";
import { catalogPage } from "./catalog-page.js";
import { readComments } from "./proto-comments.js";

const docs = fileURLToPath(new URL("../../../docs/", import.meta.url));

describe("the pages of the catalog", () => {
  let server: TestServer;
  before(async () => {
    server = await startServer();
  });

  async function put(name: string, document: object) {
    const body = { payload: encode(document) };
    const answer = await rest(server, server.adminKey, "POST", `/v1/catalog/${name}`, body);
    assert.equal(answer.status, 200, `${name}: ${JSON.stringify(answer.body)}`);
    return decode(answer.body.payload);
  }

  it("are one per kind", () => {
    const pages = readdirSync(`${docs}catalog`).filter((name) => name !== "walkthrough.md");
    assert.deepEqual(pages.sort(), [...KINDS.keys()].map((name) => `${name}.md`).sort());
  });

  const comments = readComments();
  for (const kind of KINDS.values()) {
    it(`${kind.name}: says what the protos say; run 'npm run docs' after changing them`, () => {
      assert.equal(readFileSync(`${docs}catalog/${kind.name}.md`, "utf8"), catalogPage(kind, comments));
    });

    const example = EXAMPLES[kind.name];
    it(`${kind.name}: its example is taken, and read back as it was sent`, async () => {
      if (kind.notWritable) {
        assert.equal(example, undefined);
        return;
      }
      assert.ok(example, "every kind has an example");
      for (const [name, document] of Object.entries(example.needs ?? {})) await put(name, document);
      for (const agent of example.agents ?? []) {
        await createAgentCaller(server, server.adminKey).spawn(agent, "@ask what?");
      }
      const stored = await put(`${kind.name}/${example.name}`, example.document);
      const { value: _, agentId: __, ...sent } = example.document;
      for (const [field, value] of Object.entries(sent)) assert.deepEqual(stored[field], value, field);
    });
  }
});

describe("the walkthrough of the catalog", () => {
  it("runs as written", async () => {
    const server = await startServer();
    const text = readFileSync(`${docs}catalog/walkthrough.md`, "utf8");
    const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1] as string);
    const output = await bash(["set -e", ...blocks].join("\n"), {
      RETINUE: server.url,
      KEY: server.adminKey,
    });
    const expected = [...text.matchAll(/```text\n([\s\S]*?)```/g)].map((match) =>
      (match[1] as string).trim(),
    );
    assert.ok(expected.length >= 6);
    for (const line of expected) assert.ok(output.includes(line), `${line}\nis not in\n${output}`);
  });
});

function bash(script: string, env: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["-c", script], { env: { ...process.env, ...env } });
    let output = "";
    child.stdout.on("data", (data) => (output += data));
    child.stderr.on("data", (data) => (output += data));
    child.on("close", (code) =>
      code === 0 ? resolve(output) : reject(new Error(`ended with ${code}:\n${output}`)),
    );
  });
}
