import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type AgentCaller, createAgentCaller, until } from "../support/agents.js";
import { startServer, type TestServer } from "../support/server.js";
import { NO_BROWSER, openPage } from "./browser.js";

describe("an agent's page", { skip: NO_BROWSER }, () => {
  let server: TestServer;
  let agents: AgentCaller;
  before(async () => {
    server = await startServer();
    agents = createAgentCaller(server, server.adminKey);
  });
  const openAgent = async (uid: string) =>
    openPage({ url: server.url, path: `/ui/agents/${uid}`, key: server.adminKey });

  test("is where dashboardUrl leads: conversation, checklist, settings and usage, answered by Ctrl+Enter", async () => {
    const { dashboardUrl } = await agents.spawn(
      "painter",
      "@say I shall **paint** <b>it</b> ![x](http://127.0.0.1:1/x.png)\n@run echo wet paint\n@usage 1200 300 0 0.5\n@ask Which colour?",
      {
        model: "script-a",
        tasks: [
          { id: "paint", subject: "Paint it" },
          { id: "dry", subject: "Let it dry", blockedBy: ["paint"] },
        ],
      },
    );
    assert.ok(dashboardUrl.startsWith(`${server.url}/ui/agents/`));
    await agents.wait("painter");
    const { page, complaints } = await openPage({ url: dashboardUrl, path: "", key: server.adminKey });
    const log = page.getByRole("log");
    await log.locator("strong", { hasText: "paint" }).waitFor();
    await log.locator("code", { hasText: "<b>" }).first().waitFor();
    assert.equal(await log.locator("img, b").count(), 0, "neither HTML nor images of agents");
    await log.getByText("Which colour?", { exact: true }).waitFor();
    await log.locator("summary", { hasText: "echo wet paint" }).click();
    await log.getByLabel("Output").getByText("wet paint").waitFor();

    const details = page.getByRole("complementary", { name: "Details" });
    await details.getByText("waits for Paint it").waitFor();
    await details.getByRole("row", { name: /Model script-a spawn/ }).waitFor();
    await details.getByText("$0.50 · 1.5k tokens").waitFor();
    await details.getByRole("img", { name: "Cost and tokens by run" }).waitFor();

    const box = page.getByLabel("Your answer");
    await box.fill("@task paint completed\n@complete It is **blue**.");
    await box.press("Control+Enter");
    await details.getByText("It is blue.").waitFor();
    await page.getByRole("banner").or(page.locator(".agent-header")).getByText("Completed").first().waitFor();
    await log.getByText("Done: Paint it").waitFor();
    assert.equal(await page.getByLabel("Follow-up").count(), 0, "nothing can be said to it any more");
    assert.deepEqual(complaints, []);
  });

  test("a follow-up with every option: settings, tasks, an ID of its own", async () => {
    const { agentId } = await agents.spawn("chosen", "@ask What now?");
    await agents.wait("chosen");
    const { page, complaints } = await openAgent(agentId.uid);
    await page.getByLabel("Your answer").fill("@ask And now?");
    await page.getByText("Options", { exact: true }).click();
    await page.getByLabel("Effort").selectOption("high");
    await page.getByLabel("Fast mode").selectOption("on");
    await page.getByRole("button", { name: "Add a task" }).click();
    await page.getByLabel("Subject of task 1").fill("Think");
    await page.getByLabel("ID of task 1").fill("think");
    await page.getByRole("button", { name: "Add a task" }).click();
    await page.getByLabel("Subject of task 2").fill("Act");
    await page.getByLabel("Task 2 waits for").fill("think");
    await page.getByLabel("Follow-up ID").fill("mine");
    await page.getByRole("button", { name: "Answer" }).click();
    const details = page.getByRole("complementary", { name: "Details" });
    await details.getByRole("row", { name: /Effort high follow-up/ }).waitFor();
    await details.getByRole("row", { name: /Fast mode on follow-up/ }).waitFor();
    await details.getByText("waits for Think").waitFor();
    const status = await agents.until("chosen", "asks again", ({ needsInput }) => needsInput === "And now?");
    assert.deepEqual(status.settings.sources.reasoningEffort, "SETTING_SOURCE_FOLLOW_UP");
    // A person may tick a task off, and is told when it has to wait.
    await details.getByLabel(/^Act/).click();
    await page
      .getByText(/blocked|waits/i)
      .last()
      .waitFor();
    await details.getByLabel(/^Think/).click();
    await agents.until("chosen", "ticked", ({ tasks }) => tasks[0].status === "TASK_STATUS_COMPLETED");
    // What is refused is said where it was tried.
    await page.getByLabel("Your answer").fill("x");
    await page.getByLabel("Model").fill("script-b");
    await page.getByRole("button", { name: "Answer" }).click();
    await page.getByRole("alert").getByText(/model/).waitFor();
    assert.deepEqual(complaints, []);
  });

  test("the queue: deferred with a countdown, taken back, discarded, preempted", async () => {
    const { agentId } = await agents.spawn("busy", "@sleep 600s");
    await agents.until("busy", "runs", ({ turn }) => turn?.state === "TURN_STATE_RUNNING");
    const { page, complaints } = await openAgent(agentId.uid);
    const details = page.getByRole("complementary", { name: "Details" });
    const box = page.getByLabel("Follow-up message");
    const send = page.getByRole("button", { name: "Send" });
    await box.fill("@say one");
    await send.click();
    await details.getByText("@say one").waitFor();
    await page.getByText("Options", { exact: true }).click();
    await box.fill("@say later");
    await page.getByLabel("Delivery").selectOption("later");
    await page.getByRole("button", { name: "in 10m" }).click();
    await send.click();
    await details.getByText(/^in (9m|10m)/).waitFor();
    const counted = details.locator(".countdown");
    const before = await counted.innerText();
    await details.locator(".countdown", { hasNotText: before }).waitFor();

    await details.locator("li", { hasText: "@say one" }).getByRole("button", { name: "Take back" }).click();
    await details.getByText("@say one").waitFor({ state: "detached" });
    await box.fill("@say two");
    await send.click();
    await details.getByText("@say two").waitFor();
    await details.getByRole("button", { name: "Discard all that is queued" }).click();
    await details.getByText("@say two").waitFor({ state: "detached" });
    await details.getByText("@say later").waitFor();

    await box.fill("@ask Interrupted?");
    await page.getByLabel("Delivery").selectOption("preempt");
    await send.click();
    await page.getByText("Run 1 is interrupted for it.").waitFor();
    await page
      .getByRole("log")
      .getByText(/Run 1 interrupted/)
      .waitFor();
    await page.getByLabel("Your answer").waitFor();
    assert.deepEqual(complaints, []);
  });

  test("stopping is fenced by the run on the screen", async () => {
    const { agentId } = await agents.spawn("stopped", "@sleep 600s");
    await agents.until("stopped", "runs", ({ turn }) => turn?.state === "TURN_STATE_RUNNING");
    const { page } = await openAgent(agentId.uid);
    await page.getByRole("button", { name: "Stop run 1" }).click();
    const dialog = page.getByRole("dialog", { name: "Stop run 1?" });
    await dialog.waitFor();
    // Meanwhile run 1 ends by another hand, and run 2 begins: the dialog still means run 1.
    await agents.queue("stopped", "@sleep 600s");
    await agents.get("stop-turn", "stopped", { runId: 1 });
    await agents.until(
      "stopped",
      "run 2",
      ({ turn }) => turn?.runId === "2" && turn.state === "TURN_STATE_RUNNING",
    );
    await dialog.getByRole("button", { name: "Interrupt" }).click();
    await dialog.getByRole("alert").waitFor();
    assert.equal((await agents.status("stopped")).turn.runId, "2", "the newer run is untouched");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Stop run 2" }).click();
    await page.getByRole("button", { name: "Interrupt" }).click();
    await agents.until("stopped", "rests", ({ phase }) => phase === "PHASE_WAITING_FOR_INPUT");
    await page
      .getByRole("log")
      .getByText(/Run 2 interrupted/)
      .waitFor();
  });

  test("kill says what will die, and Escape lets it live", async () => {
    const { agentId } = await agents.spawn(
      "lord",
      "@spawn page | @ask Fold?\n@spawn cook | @ask Salt?\n@ask y?",
    );
    await agents.until("lord/cook", "asks", ({ needsInput }) => needsInput !== "");
    await agents.until("lord/page", "there", () => true);
    const { page } = await openAgent(agentId.uid);
    await page.getByRole("button", { name: "Kill" }).click();
    const dialog = page.getByRole("dialog", { name: "Kill lord?" });
    await dialog.getByText("2 live agents below it").waitFor();
    await dialog.getByText("lord/cook").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    assert.notEqual((await agents.status("lord")).phase, "PHASE_STOPPING");
    await page.getByRole("button", { name: "Kill" }).click();
    await dialog.getByRole("button", { name: "Kill 3 agents" }).click();
    await page
      .getByRole("log")
      .getByText(/^Canceled/)
      .waitFor();
    assert.equal((await agents.status("lord/cook")).phase, "PHASE_CANCELED");
  });

  test("a long log shows its end, and what was before on demand", async () => {
    const says = Array.from({ length: 130 }, (_, i) => `@addtask t${i} Task ${i}`).join("\n");
    const { agentId } = await agents.spawn("chatty", `${says}\n@ask Enough?`);
    await agents.wait("chatty");
    const { page } = await openAgent(agentId.uid);
    await page.getByRole("log").getByText("Enough?", { exact: true }).waitFor();
    const earlier = page.getByRole("button", { name: "Show earlier" });
    const items = page.locator(".conversation > *");
    while ((await earlier.count()) > 0) {
      const before = await items.count();
      await earlier.click();
      await until(
        "more of the log",
        () => items.count(),
        (count) => count > before,
      );
    }
    await page.getByRole("log").getByText("@addtask t0 Task 0").first().waitFor();
  });
});
