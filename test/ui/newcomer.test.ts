import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { printed, startServe } from "../support/process.js";
import { NO_BROWSER, openPage } from "./browser.js";

const GUIDE = readFileSync(new URL("../../../docs/newcomer.md", import.meta.url), "utf8");

/** What the guide says to write, in order. */
const TEXTS = [...GUIDE.matchAll(/```text\n([\s\S]*?)```/g)].map(([, text = ""]) =>
  text.replace(/^ {3}/gm, "").trim(),
);

/** What the guide calls a thing on the page is what the page calls it. */
function called(name: string): string {
  assert.ok(GUIDE.includes(`*${name}*`), `the guide does not speak of *${name}*`);
  return name;
}

describe("the newcomer's path", { skip: NO_BROWSER }, () => {
  test("a started server, a page, a spawned agent, its question answered, its work completed", async (t) => {
    const began = performance.now();
    const server = await startServe();
    const url = await printed(server, /^page: (\S+)/m);
    const [work = "", answer = ""] = TEXTS;
    const { page, complaints } = await openPage({ url, path: "" });
    const opened = performance.now();
    await page.getByLabel(called("API key")).fill(server.adminKey);
    await page.getByRole("button", { name: called("Sign in") }).click();

    await page.getByRole("link", { name: called("Spawn"), exact: true }).click();
    await page.getByLabel(called("What is to be done")).fill(work);
    await page.getByLabel(called("Name"), { exact: true }).fill("painter");
    await page.getByRole("button", { name: called("Add a task") }).click();
    await page.getByLabel("Subject of task 1").fill("Paint the shed");
    await page.getByLabel("ID of task 1").fill("paint");
    await page.getByRole("button", { name: "Spawn" }).click();

    const log = page.getByRole("log");
    await log.getByText("I shall paint the shed.").last().waitFor();
    await page.locator(".agent-header").getByText(called("Needs input")).waitFor();
    await page
      .getByRole("link", { name: called("Inbox") })
      .getByText("1")
      .waitFor();
    await page.getByLabel(called("Your answer")).fill(answer);
    await page.getByRole("button", { name: called("Answer") }).click();

    await page.locator(".agent-header").getByText(called("Completed")).waitFor();
    const details = page.getByRole("complementary", { name: "Details" });
    await details.getByText("The shed is blue.").waitFor();
    await details.getByText("1 of 1").waitFor();
    for (const name of ["Every event", "Settings", "Usage", "Share"])
      await page.getByText(called(name)).first().waitFor();
    const seconds = (from: number) => ((performance.now() - from) / 1000).toFixed(1);
    t.diagnostic(
      `${seconds(began)} s from the start of the server, ${seconds(opened)} s of them on the page`,
    );
    assert.deepEqual(complaints, []);
  });
});
