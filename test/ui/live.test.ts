import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createAgentCaller } from "../support/agents.js";
import { startServer } from "../support/server.js";
import { NO_BROWSER, openPage } from "./browser.js";

describe("live", { skip: NO_BROWSER }, () => {
  test("what an agent says comes by itself, and a restart in the middle loses and repeats nothing", async () => {
    const first = await startServer();
    const { port } = new URL(first.url);
    const agents = createAgentCaller(first, first.adminKey);
    const { agentId } = await agents.spawn("talker", "@say before\n@ask Go on?");
    await agents.wait("talker");
    const { page, complaints } = await openPage({
      url: first.url,
      path: `/ui/agents/${agentId.uid}`,
      key: first.adminKey,
    });
    const log = page.getByRole("log");
    await log
      .getByText(/before/)
      .first()
      .waitFor();
    await agents.queue("talker", "@say live\n@ask Still there?");
    await log.getByText("Still there?", { exact: true }).waitFor();

    await first.close(0);
    await page.getByText(/^Disconnected for/).waitFor();
    const second = await startServer({ data: first.dataDir, port: Number(port) });
    const again = createAgentCaller(second, second.adminKey);
    await again.queue("talker", "@say after\n@ask Back?");
    await log.getByText("Back?", { exact: true }).waitFor();
    await page.getByText(/^Disconnected for/).waitFor({ state: "detached" });
    await page.getByLabel("Your answer").fill("@complete done");
    await page.getByRole("button", { name: "Answer" }).click();
    await log.getByText(/^Completed/).waitFor();

    const runs = await log.locator(".run").allInnerTexts();
    assert.deepEqual(
      runs.map((text) => /Run \d+/.exec(text)?.[0]),
      ["Run 1", "Run 2", "Run 3", "Run 4"],
    );
    await page.getByLabel("Every event").check();
    const shown = await again.timeline("talker");
    const seqs = (await page.evaluate(
      `[...document.querySelectorAll(".conversation [data-seq]")].map((element) => Number(element.dataset.seq))`,
    )) as number[];
    assert.deepEqual(
      seqs,
      [...new Set(seqs)].sort((a, b) => a - b),
      "in order, none twice",
    );
    assert.equal(seqs.at(-1), shown.length, "up to the last");
    assert.deepEqual(complaints, []);
  });

  test("a tab that nobody looks at holds no stream, and catches up when it is looked at", async () => {
    const server = await startServer();
    const agents = createAgentCaller(server, server.adminKey);
    const { agentId } = await agents.spawn("aside", "@ask Anybody?");
    await agents.wait("aside");
    const { page } = await openPage({
      url: server.url,
      path: `/ui/agents/${agentId.uid}`,
      key: server.adminKey,
    });
    const log = page.getByRole("log");
    await log.getByText("Anybody?", { exact: true }).waitFor();
    const look = (hidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, "hidden", { value: ${hidden}, configurable: true });
         document.dispatchEvent(new Event("visibilitychange"));`,
      );
    const cut = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/Watch"));
    await look(true);
    await cut;
    await agents.queue("aside", "@ask Still nobody?");
    await agents.until("aside", "asks", ({ needsInput }) => needsInput === "Still nobody?");
    await look(false);
    await log.getByText("Still nobody?", { exact: true }).waitFor();
    assert.equal(await page.getByText(/^Disconnected/).count(), 0);
  });

  test("text comes while it is being said", async () => {
    const server = await startServer();
    const agents = createAgentCaller(server, server.adminKey);
    const { agentId } = await agents.spawn("slow", "@sleep 1s\n@say in the middle\n@sleep 600s");
    const { page } = await openPage({
      url: server.url,
      path: `/ui/agents/${agentId.uid}`,
      key: server.adminKey,
    });
    // The turn is still running: the stored message comes when it ends, or when a tool is called.
    await page.getByRole("log").getByText("in the middle").first().waitFor();
    assert.equal((await agents.status("slow")).phase, "PHASE_RUNNING");
  });
});
