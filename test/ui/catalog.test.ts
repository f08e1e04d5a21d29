import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { decode, encode, mintKey, rest, startServer, type TestServer } from "../support/server.js";
import { NO_BROWSER, openPage } from "./browser.js";

describe("the catalog", { skip: NO_BROWSER }, () => {
  let server: TestServer;
  before(async () => {
    server = await startServer();
  });
  const open = (path: string, key = server.adminKey) => openPage({ url: server.url, path, key });
  const read = async (ref: string) => {
    const { body } = await rest(server, server.adminKey, "GET", `/v1/catalog/${ref}`);
    return { generation: body.generation, document: decode(body.payload) };
  };

  test("a persona is written as Markdown, changed, compared and deleted", async () => {
    const { page, complaints } = await open("/ui/catalog");
    await page.getByRole("link", { name: "persona", exact: true }).click();
    await page.getByRole("link", { name: "New persona" }).click();
    await page.getByLabel("Name", { exact: true }).fill("gardener");
    const editor = page.getByLabel("Markdown with front matter");
    await editor.fill("no front matter");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").getByText(/---/).waitFor();
    await editor.fill(
      "---\ndisplayName: Gardener\nsettings:\n  reasoningEffort: high\n---\nYou tend plants.\n",
    );
    await page.getByLabel("Why").fill("for the roses");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText(/^Generation 1\./).waitFor();
    const { document } = await read("persona/gardener");
    assert.equal(document.instructions, "You tend plants.\n");
    assert.equal(document.settings.reasoningEffort, "high");

    await editor.fill("---\ndisplayName: Gardener\n---\nYou tend plants, gently.\n");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText(/^Generation 2\./).waitFor();
    await page.getByLabel("What generation 2 changed").getByText("+ You tend plants, gently.").waitFor();
    await page.locator("summary", { hasText: "for the roses" }).click();
    await page.getByRole("button", { name: "Put this text into the editor" }).click();
    assert.match(await editor.inputValue(), /reasoningEffort: high/);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete for good?" }).click();
    await page.getByText("Deleted persona/gardener.").waitFor();
    await page.getByRole("link", { name: "default" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test("who was slower is told, sees the difference, and decides", async () => {
    const put = (description: string) =>
      rest(server, server.adminKey, "POST", "/v1/catalog/workspace/shop", {
        payload: encode({ description }),
      });
    await put("one");
    const { page, complaints } = await open("/ui/catalog/workspace/shop");
    const editor = page.getByLabel("YAML");
    await page.getByText(/^Generation 1\./).waitFor();
    await editor.fill("description: mine\n");
    await put("theirs");
    await page.getByRole("button", { name: "Save" }).click();
    const conflict = page.getByRole("alert");
    await conflict.getByText("Somebody saved generation 2 meanwhile").waitFor();
    await conflict.getByText("- description: theirs").waitFor();
    assert.equal((await read("workspace/shop")).document.description, "theirs", "nothing was written");
    await put("theirs again");
    await conflict.getByRole("button", { name: /Save mine over generation 2/ }).click();
    await conflict.getByText("Somebody saved generation 3 meanwhile").waitFor();
    await conflict.getByRole("button", { name: /Save mine over generation 3/ }).click();
    await page.getByText(/^Generation 4\./).waitFor();
    assert.equal((await read("workspace/shop")).document.description, "mine");
    await editor.fill("descriptions: x\n");
    await page.getByRole("button", { name: "Save" }).click();
    await page
      .getByRole("alert")
      .getByText(/descriptions/)
      .waitFor();
    assert.deepEqual(complaints, []);
  });

  test("who may only propose makes a change request, which another approves", async () => {
    await rest(server, server.adminKey, "POST", "/v1/catalog/workspace/barn", {
      payload: encode({ description: "old" }),
    });
    const member = await mintKey(server, "mem", { account: "mem", role: "member" });
    const proposer = await open("/ui/catalog/workspace/barn", member);
    await proposer.page.getByText(/^Generation 1\./).waitFor();
    await proposer.page.getByLabel("YAML").fill("description: new\n");
    await proposer.page.getByRole("button", { name: "Propose" }).click();
    await proposer.page.getByText("a change request was made").waitFor();
    await proposer.page.getByText('+   "description": "new"').waitFor();

    const { page } = await open("/ui/catalog/change-request");
    await page.getByRole("table").getByRole("link").first().click();
    await page.getByText('-   "description": "old"').waitFor();
    await page.getByLabel("Note").fill("fine");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Approved and written.").waitFor();
    assert.equal((await read("workspace/barn")).document.description, "new");
  });
});
