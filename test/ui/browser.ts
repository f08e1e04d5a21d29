import { existsSync } from "node:fs";
import { before } from "node:test";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { cleanUp } from "../support/cleanup.js";

const PROGRAMS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const program = PROGRAMS.find(existsSync);

/** For `describe` and `test`: why they are skipped, where there is no browser. */
export const NO_BROWSER =
  program === undefined ? `no browser: none of ${PROGRAMS.join(", ")} is installed` : false;

/** Machines that run tests are slow and shared. */
export const PATIENCE_MS = 30_000;

let browser: Browser | undefined;
before(async () => {
  if (program === undefined) return;
  // Chromium's own sandbox does not start for root; the pages are ours.
  browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
  cleanUp(() => browser?.close());
});

export interface OpenOptions extends BrowserContextOptions {
  readonly url: string;
  /** Below the server's address. */
  readonly path?: string;
  /** Put where the page keeps it; without one the page asks for it. */
  readonly key?: string;
}

export interface OpenPage {
  readonly page: Page;
  /** Errors of the page and refusals of its policy so far. Nothing may come here by itself. */
  readonly complaints: string[];
}

/** A page of its own, as a new visitor has it. */
export async function openPage({ url, path = "/ui", key, ...options }: OpenOptions): Promise<OpenPage> {
  if (browser === undefined) throw new Error("there is no browser");
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  cleanUp(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    const text = message.text();
    // A server that is down, or refuses, is told of by the page itself.
    const expected = /Failed to load resource|ERR_CONNECTION|ERR_INCOMPLETE|ERR_NETWORK/.test(text);
    if (message.type() === "error" && !expected) complaints.push(text);
  });
  if (key !== undefined) {
    await page.addInitScript(
      `sessionStorage.getItem("retinue.key") ?? sessionStorage.setItem("retinue.key", ${JSON.stringify(key)})`,
    );
  }
  await page.goto(url + path);
  return { page, complaints };
}
