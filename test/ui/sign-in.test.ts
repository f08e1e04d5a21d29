import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { mintKey, rest, startServer, type TestServer } from "../support/server.js";
import { NO_BROWSER, openPage } from "./browser.js";

describe("signing in", { skip: NO_BROWSER }, () => {
  let server: TestServer;
  before(async () => {
    server = await startServer();
  });

  test("a wrong key is refused in the server's words, a right one opens the page and stays in the tab", async () => {
    const { page, complaints } = await openPage({ url: server.url });
    await page.getByLabel("API key").fill("rtn_nobody.nothing");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText(/key/).waitFor();
    await page.getByLabel("API key").fill(`  ${server.adminKey}\n`);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Agents" }).waitFor();
    await page.getByText("admin", { exact: true }).first().waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Agents" }).waitFor();
    const kept = (await page.evaluate("JSON.stringify({ ...localStorage }) + document.cookie")) as string;
    assert.ok(!kept.includes("rtn_"), "the key is in session storage and nowhere else");

    const other = await page.context().newPage();
    await other.goto(`${server.url}/ui`);
    await other.getByLabel("API key").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key").waitFor();
    assert.equal(await page.evaluate("sessionStorage.length"), 0);
    assert.deepEqual(complaints, []);
  });

  test("a key that is revoked meanwhile brings the sign-in back, with the reason", async () => {
    const key = await mintKey(server, "passing", { account: "passing", role: "member" });
    const { page } = await openPage({ url: server.url, key });
    await page.getByRole("heading", { name: "Agents" }).waitFor();
    const answer = await rest(server, server.adminKey, "DELETE", "/v1/catalog/token/passing");
    assert.equal(answer.status, 200);
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await page.getByRole("alert").waitFor();
  });

  test("a viewer is offered nothing that would be refused", async () => {
    const key = await mintKey(server, "looker", { account: "looker", role: "viewer" });
    const { page } = await openPage({ url: server.url, key });
    await page.getByText("No agent is alive.").waitFor();
    assert.equal(await page.getByRole("link", { name: "Spawn" }).count(), 0);
    const places = await page.getByRole("navigation", { name: "Pages" }).getByRole("link").allInnerTexts();
    assert.deepEqual(places, ["Agents", "Inbox", "Catalog", "Pools"]);
  });
});
