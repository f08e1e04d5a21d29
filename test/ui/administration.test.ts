import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type AgentCaller, createAgentCaller } from "../support/agents.js";
import { rest, startServer, type TestServer } from "../support/server.js";
import { NO_BROWSER, openPage } from "./browser.js";

describe("keys, shared links, audit and pools", { skip: NO_BROWSER }, () => {
  let server: TestServer;
  let agents: AgentCaller;
  before(async () => {
    server = await startServer();
    agents = createAgentCaller(server, server.adminKey);
  });
  const open = (path: string) => openPage({ url: server.url, path, key: server.adminKey });

  test("a key is shown once, works, is listed and can be revoked", async () => {
    const { page, complaints } = await open("/ui/keys");
    await page.getByText("this one").waitFor();
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name", { exact: true }).fill("robot");
    await page.getByLabel("Account").fill("robot");
    await page.getByLabel("Role").selectOption("viewer");
    await page.getByLabel("Days").fill("3");
    await page.getByRole("button", { name: "Make the key" }).click();
    const key = await page.getByRole("textbox", { name: "API key" }).inputValue();
    const whoami = () => rest(server, key, "GET", "/v1/whoami");
    assert.deepEqual([(await whoami()).body.account, (await whoami()).body.role], ["robot", "viewer"]);
    await page.getByRole("button", { name: "I have it" }).click();
    await page.getByRole("row", { name: /robot.*viewer/ }).waitFor();
    await page.getByRole("button", { name: "Revoke robot", exact: true }).click();
    await page.getByRole("button", { name: "Revoke robot for good" }).click();
    await page.getByRole("row", { name: /robot.*revoked/ }).waitFor();
    assert.equal((await whoami()).status, 401);
    assert.deepEqual(complaints, []);
  });

  test("a shared link shows its agent to a stranger, live and read only, until it is revoked", async () => {
    const { agentId } = await agents.spawn(
      "shown",
      "@spawn kid | @ask Kid's question?\n@say for all to see\n@ask Go on?",
    );
    await agents.until("shown/kid", "asks", ({ needsInput }) => needsInput !== "");
    const { page } = await open(`/ui/agents/${agentId.uid}`);
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByRole("button", { name: "Make a link" }).click();
    const link = await page.getByRole("textbox", { name: "Link" }).inputValue();
    assert.ok(link.startsWith(`${server.url}/ui/share#rtn_`), link);

    const stranger = await openPage({ url: link, path: "" });
    await stranger.page.getByText("shared, read only").waitFor();
    const log = stranger.page.getByRole("log");
    await log
      .getByText(/for all to see/)
      .first()
      .waitFor();
    for (const name of ["Kill", "Share", "Answer", "Send"]) {
      assert.equal(await stranger.page.getByRole("button", { name }).count(), 0, name);
    }
    assert.equal(await stranger.page.evaluate("sessionStorage.length"), 0, "the secret is kept nowhere");
    await agents.queue("shown", "@say news\n@ask And now?");
    await log.getByText("And now?", { exact: true }).waitFor();
    await stranger.page.getByRole("complementary").getByRole("link", { name: "kid" }).click();
    await log.getByText("Kid's question?").first().waitFor();
    assert.deepEqual(stranger.complaints, []);

    const keys = await open("/ui/keys");
    const links = keys.page.getByRole("table", { name: "Shared links" });
    await links.getByRole("button", { name: /^Revoke/ }).click();
    await links.getByRole("button", { name: /for good/ }).click();
    await links.getByText("revoked").waitFor();
    const late = await openPage({ url: link, path: "" });
    await late.page.getByText(/This link does not work/).waitFor();
    const incomplete = await openPage({ url: server.url, path: "/ui/share" });
    await incomplete.page.getByText(/not complete/).waitFor();
  });

  test("a link without the conversation shows the status alone", async () => {
    const { agentId } = await agents.spawn("half", "@say not for you\n@ask Seen?", {
      tasks: [{ id: "t", subject: "Be seen" }],
    });
    await agents.wait("half");
    const { page } = await open(`/ui/agents/${agentId.uid}`);
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByLabel("Shows").selectOption({ label: "no conversation" });
    await page.getByRole("button", { name: "Make a link" }).click();
    const link = await page.getByRole("textbox", { name: "Link" }).inputValue();
    const stranger = await openPage({ url: link, path: "" });
    await stranger.page.getByText("Be seen").waitFor();
    assert.equal(await stranger.page.getByText("not for you").count(), 0);
    await agents.queue("half", "@ask Still seen?");
    await stranger.page.getByText("Still seen?").waitFor();
  });

  test("the audit log is there, and narrows", async () => {
    await agents.spawn("audited", "@complete");
    const { page, complaints } = await open("/ui/audit");
    await page.getByRole("cell", { name: /audited/ }).waitFor();
    await page.getByLabel("Target").fill("token/admin");
    await page.getByRole("button", { name: "Filter" }).click();
    await page.getByRole("cell", { name: /audited/ }).waitFor({ state: "detached" });
    await page.getByRole("cell", { name: "first start" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test("pools say how much of them is in use", async () => {
    await agents.spawn("swimmer", "@sleep 600s");
    await agents.until("swimmer", "runs", ({ turn }) => turn?.state === "TURN_STATE_RUNNING");
    const { page, complaints } = await open("/ui/pools");
    await page.getByText(/^1 of 8 slots in use/).waitFor();
    assert.deepEqual(complaints, []);
  });
});
