// Records session.svg: these very lines, run by a shell on a pseudo-terminal, against a real server.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createScreen } from "../../dist/test/support/screen.js";
import { filmSvg } from "./film-svg.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const RETINUE = path("../../dist/src/main/retinue.js");
const ROWS = 25;
const COLUMNS = 84;
const FRAME_MS = 250;
/** Nobody wants to watch a machine think, or read faster than they can. */
const LONGEST_MS = 1200;
const READING_MS = 2200;

const STEPS = [
  `retinue spawn bakery -f bakery.txt --follow \\
    -t plan="Make a plan" -t bread="Have bread baked" -t sign="Have a sign painted"`,
  'retinue send bakery "@complete The bakery is open, and its sign is blue." --wait',
  "retinue ps --all",
];

const folder = mkdtempSync(join(tmpdir(), "retinue-record-"));
const server = spawn(process.execPath, [RETINUE, "serve", "--port", "0", "--data", join(folder, "data")], {
  stdio: ["ignore", "pipe", "ignore"],
});
try {
  const url = await listening(server);
  const key = readFileSync(join(folder, "data", "admin.key"), "utf8").trim();
  writeFileSync(join(folder, "retinue"), `#!/bin/sh\nexec "${process.execPath}" "${RETINUE}" "$@"\n`, {
    mode: 0o755,
  });
  const frames = await record({ RETINUE_URL: url, RETINUE_KEY: key, PATH: `${folder}:${process.env.PATH}` });
  writeFileSync(path("session.svg"), filmSvg(frames, ROWS, COLUMNS));
  console.log(`session.svg: ${frames.length} frames`);
} finally {
  server.kill();
  rmSync(folder, { recursive: true, force: true });
}

async function record(env) {
  const screen = createScreen(ROWS, COLUMNS);
  const frames = [];
  let last = "";
  let lastAt = performance.now();
  const look = (leastMs = 0) => {
    const cells = screen.cells();
    const now = performance.now();
    const text = JSON.stringify(cells);
    const before = frames.at(-1);
    if (before) before.ms = Math.max(leastMs, Math.min(LONGEST_MS, before.ms + now - lastAt));
    lastAt = now;
    if (text === last) return;
    last = text;
    frames.push({ cells, ms: 0 });
  };
  const timer = setInterval(look, FRAME_MS);
  for (const line of STEPS) {
    screen.write(`\u001b[32m$\u001b[0m ${line.replaceAll("\n", "\r\n")}\r\n`);
    look();
    await run(line, env, (text) => screen.write(text));
    look();
    look(READING_MS);
  }
  clearInterval(timer);
  frames.at(-1).ms = READING_MS * 2;
  return frames.map((frame) => ({ ...frame, ms: Math.max(frame.ms, 60) }));
}

function run(line, env, onText) {
  const child = spawn(
    "python3",
    [path("../../test/support/terminal.py"), String(ROWS), String(COLUMNS), "sh", "-c", line],
    { cwd: path("."), stdio: ["pipe", "pipe", "inherit"], env: { HOME: folder, TERM: "xterm", ...env } },
  );
  const decoder = new TextDecoder();
  child.stdout.on("data", (chunk) => onText(decoder.decode(chunk, { stream: true })));
  return new Promise((resolve) => child.once("close", resolve));
}

function listening(child) {
  return new Promise((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const url = /^listening on (\S+)$/.exec(line)?.[1];
      if (url) resolve(url);
    });
  });
}
