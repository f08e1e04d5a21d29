import { mkdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { startServer } from "../support/server.js";
import { NO_BROWSER, openPage } from "./browser.js";
import { plant } from "./garden.js";

/** Compiled, this file lies in dist/test/ui. */
const FOLDER = fileURLToPath(new URL("../../../docs/screenshots/", import.meta.url));
const SIZE = { width: 1180, height: 720 };
const NARROW = { width: 400, height: 720 };

// Run by `npm run screenshots`: the real page of a real server, as it is today.
test("every page is photographed, light and dark", { skip: NO_BROWSER, timeout: 600_000 }, async () => {
  const server = await startServer();
  const { places } = await plant(server);
  mkdirSync(FOLDER, { recursive: true });
  for (const colorScheme of ["light", "dark"] as const) {
    const wide = { url: server.url, colorScheme, viewport: SIZE, locale: "en-GB" };
    const signIn = await openPage(wide);
    await signIn.page.getByLabel("API key").waitFor();
    await signIn.page.screenshot({ path: `${FOLDER}sign-in-${colorScheme}.png` });
    const { page } = await openPage({ ...wide, key: server.adminKey });
    for (const { name, path, shows } of places) {
      await page.goto(server.url + path);
      await page.getByText(shows).first().waitFor();
      await page.screenshot({ path: `${FOLDER}${name}-${colorScheme}.png`, animations: "disabled" });
    }
    await page.setViewportSize(NARROW);
    for (const { name, path, shows } of places.slice(0, 2)) {
      await page.goto(server.url + path);
      await page.getByText(shows).first().waitFor();
      await page.screenshot({ path: `${FOLDER}${name}-narrow-${colorScheme}.png`, animations: "disabled" });
    }
  }
});
