import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type AgentCaller, createAgentCaller } from "../support/agents.js";
import { startServer, type TestServer } from "../support/server.js";
import { NO_BROWSER, openPage } from "./browser.js";

describe("spawning and answering", { skip: NO_BROWSER }, () => {
  let server: TestServer;
  let agents: AgentCaller;
  before(async () => {
    server = await startServer();
    agents = createAgentCaller(server, server.adminKey);
  });
  const open = (path: string) => openPage({ url: server.url, path, key: server.adminKey });

  test("an agent with everything, and a child below it", async () => {
    const { page, complaints } = await open("/ui/spawn");
    await page.getByLabel("What is to be done").fill("@ask What first?");
    await page.getByLabel("Name", { exact: true }).fill("Not a name");
    await page.getByRole("button", { name: "Spawn" }).click();
    await page
      .getByRole("alert")
      .getByText(/agentId\.agent/)
      .waitFor();
    await page.getByLabel("Name", { exact: true }).fill("builder");
    await page.getByLabel("Wanted result").fill("A house");
    await page.getByRole("button", { name: "Add a task" }).click();
    await page.getByLabel("Subject of task 1").fill("Dig");
    await page.getByText("Settings, budget and more").click();
    await page.getByLabel("Model").fill("script-b");
    await page.getByLabel("Tier").selectOption("flex");
    await page.getByLabel("Labels").fill("team=house stage=dig");
    await page.getByLabel("US dollars").fill("2.5");
    await page.getByLabel("Turns").fill("9");
    await page.getByLabel("Minutes").fill("60");
    await page.getByLabel("When a turn ends plainly").selectOption("complete");
    await page.getByRole("button", { name: "Spawn" }).click();
    await page.getByRole("heading", { name: "builder" }).waitFor();
    const status = await agents.until("builder", "asks", ({ needsInput }) => needsInput !== "");
    assert.deepEqual(
      [
        status.expectedOutput,
        status.labels,
        status.settings.model,
        status.settings.serviceTier,
        status.tasks.length,
      ],
      ["A house", { team: "house", stage: "dig" }, "script-b", "flex", 1],
    );
    assert.deepEqual(
      [status.budget.limits.maxCostUsd, status.budget.limits.maxTurns, status.budget.limits.maxWallTime],
      [2.5, "9", "3600s"],
    );

    await page.getByRole("link", { name: "Child" }).click();
    await page.getByRole("heading", { name: "Spawn a child of builder" }).waitFor();
    await page.getByLabel("What is to be done").fill("@ask Bricks or wood?");
    await page.getByLabel("Name", { exact: true }).fill("mason");
    await page.getByRole("button", { name: "Spawn" }).click();
    await page.getByRole("heading", { name: /^builder.*mason$/ }).waitFor();
    await agents.until("builder/mason", "asks", ({ needsInput }) => needsInput !== "");
    await page.getByRole("link", { name: "builder", exact: true }).click();
    await page.getByRole("heading", { name: "builder", exact: true }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test("the inbox has the questions of every agent, and takes the answers", async () => {
    for (const name of ["left", "right"]) {
      await agents.spawn(name, `@ask What does ${name} mean?`);
      await agents.wait(name);
    }
    const { page, complaints } = await open("/ui/inbox");
    const card = page.getByRole("article").filter({ hasText: "What does left mean?" });
    await card.waitFor();
    await page.getByText("What does right mean?").waitFor();
    await page.getByLabel("Answer to left").fill("@complete Not right.");
    await card.getByRole("button", { name: "Answer" }).click();
    await page.getByText("Answered left.").waitFor();
    await card.waitFor({ state: "detached" });
    assert.equal((await agents.wait("left")).status.result, "Not right.");
    await page.getByText("What does right mean?").waitFor();
    await page.waitForFunction("document.title.startsWith('(')");
    assert.deepEqual(complaints, []);
  });
});
