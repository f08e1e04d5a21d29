import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { startServer, type TestServer } from "../support/server.js";
import { NO_BROWSER, openPage } from "./browser.js";
import { type Place, plant } from "./garden.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

/** What axe calls serious or critical, in a line each. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const violations = (await page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations)",
  )) as Violation[];
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.target.join(" ")}: ${nodes[0]?.failureSummary}`);
}

describe("for everybody", { skip: NO_BROWSER }, () => {
  let server: TestServer;
  let places: readonly Place[];
  let uid: string;
  before(async () => {
    server = await startServer();
    ({ places, uid } = await plant(server));
  });

  for (const colorScheme of ["light", "dark"] as const) {
    test(`axe finds nothing serious on any page, ${colorScheme}`, async () => {
      const signIn = await openPage({ url: server.url, colorScheme });
      await signIn.page.getByLabel("API key").waitFor();
      assert.deepEqual(await findings(signIn.page), [], "sign-in");
      const { page, complaints } = await openPage({ url: server.url, key: server.adminKey, colorScheme });
      for (const { name, path, shows } of places) {
        await page.goto(server.url + path);
        await page.getByText(shows).first().waitFor();
        assert.deepEqual(await findings(page), [], name);
      }
      assert.deepEqual(complaints, []);
    });
  }

  test("axe finds nothing serious in dialogs and opened options", async () => {
    const { page } = await openPage({ url: server.url, path: `/ui/agents/${uid}`, key: server.adminKey });
    await page.getByRole("button", { name: "Kill" }).click();
    await page.getByText("live agents below it").waitFor();
    assert.deepEqual(await findings(page), [], "kill");
    await page.keyboard.press("Escape");
    await page.getByText("Options", { exact: true }).click();
    await page.getByRole("button", { name: "Add a task" }).click();
    await page.getByText("By run").click();
    await page.getByLabel("Every event").check();
    assert.deepEqual(await findings(page), [], "options");
  });

  test("every page fits 400 pixels, and everything on the agent's page can be reached there", async () => {
    const { page } = await openPage({
      url: server.url,
      key: server.adminKey,
      viewport: { width: 400, height: 800 },
    });
    for (const { name, path, shows } of places) {
      await page.goto(server.url + path);
      await page.getByText(shows).first().waitFor();
      const width = await page.evaluate("document.documentElement.scrollWidth");
      assert.ok(Number(width) <= 400, `${name} is ${width} pixels wide`);
      assert.deepEqual(await findings(page), [], name);
    }
    await page.goto(`${server.url}/ui/agents/${uid}`);
    await page.getByLabel("Follow-up message").waitFor();
    await page.getByRole("button", { name: "Details" }).click();
    await page.getByRole("heading", { name: "Checklist" }).waitFor();
    assert.equal(await page.getByLabel("Follow-up message").isVisible(), false);
    await page.getByRole("button", { name: "Kill" }).waitFor();
  });

  test("light and dark follow the system until somebody chooses, and the choice stays", async () => {
    const ground = (page: Page) =>
      page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
    const [LIGHT, DARK] = ["rgb(246, 246, 244)", "rgb(16, 17, 20)"];
    const { page } = await openPage({ url: server.url, key: server.adminKey, colorScheme: "light" });
    await page.getByRole("heading", { name: "Agents" }).waitFor();
    assert.equal(await ground(page), LIGHT);
    await page.emulateMedia({ colorScheme: "dark" });
    assert.equal(await ground(page), DARK);
    await page.getByRole("button", { name: /^Theme: system/ }).click();
    assert.equal(await ground(page), LIGHT, "chosen: light");
    await page.reload();
    await page.getByRole("button", { name: /^Theme: light/ }).click();
    await page.emulateMedia({ colorScheme: "light" });
    assert.equal(await ground(page), DARK, "chosen: dark");
  });

  test("the whole path from the tree to an answer goes without a mouse", async () => {
    const { page } = await openPage({ url: server.url, key: server.adminKey });
    await page.getByRole("treeitem", { name: /docs/ }).waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate("document.activeElement.textContent"), "Skip to content");
    const focused = () => page.evaluate("document.activeElement.getAttribute('role')");
    for (let i = 0; i < 40 && (await focused()) !== "tree"; i++) await page.keyboard.press("Tab");
    assert.equal(await focused(), "tree");
    const selected = page.locator('[role=treeitem][aria-selected="true"]');
    while (!(await selected.innerText()).includes("docs")) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByLabel("Your answer").waitFor();
    for (let i = 0; i < 60; i++) {
      if ((await page.evaluate("document.activeElement.getAttribute('aria-label')")) === "Your answer") break;
      await page.keyboard.press("Tab");
    }
    await page.keyboard.type("@complete 2.3 until Monday");
    await page.keyboard.press("Control+Enter");
    await page
      .getByRole("log")
      .getByText(/^Completed/)
      .waitFor();
  });
});
