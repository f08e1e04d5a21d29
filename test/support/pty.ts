import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { cleanUp } from "./cleanup.js";
import { RETINUE } from "./process.js";
import { createScreen, type Screen } from "./screen.js";

const PTY = fileURLToPath(new URL("../../../test/support/terminal.py", import.meta.url));
const PATIENCE_MS = 30_000;

export interface TerminalOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly rows?: number;
  readonly columns?: number;
}

/** `retinue` as somebody sits before it. */
export interface TerminalSession {
  readonly screen: Screen;
  /** Everything that was written, codes and all. */
  raw(): string;
  type(text: string): void;
  /** Resolves when the screen shows it; fails with the screen when it never does. */
  shows(pattern: RegExp): Promise<void>;
  readonly exited: Promise<number | null>;
}

/** Why there can be no terminal here; false where there can. */
export const noTerminal: string | false =
  spawnSync("python3", ["-c", "import pty"]).status === 0 || process.env.CI
    ? false
    : "python3 is not installed";

export function openTerminal(
  args: readonly string[],
  options: TerminalOptions,
  onWrite: () => void = () => {},
): TerminalSession {
  const { rows = 24, columns = 80 } = options;
  const screen = createScreen(rows, columns);
  const clean = Object.entries(process.env).filter(([name]) => !/^(RETINUE_|NO_COLOR)/.test(name));
  const child = spawn("python3", [PTY, String(rows), String(columns), process.execPath, RETINUE, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...Object.fromEntries(clean), TERM: "xterm-256color", ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  let raw = "";
  let onLook = () => {};
  const decoder = new TextDecoder();
  child.stdout.on("data", (chunk: Buffer) => {
    const text = decoder.decode(chunk, { stream: true });
    raw += text;
    screen.write(text);
    onLook();
    onWrite();
  });
  const exited = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  cleanUp(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  return {
    screen,
    raw: () => raw,
    type: (text) => void child.stdin.write(text),
    shows(pattern) {
      return new Promise((resolve, reject) => {
        const fail = (why: string) =>
          reject(new Error(`${why} before the screen showed ${pattern}:\n${screen.lines().join("\n")}`));
        const timer = setTimeout(() => fail(`${PATIENCE_MS} ms passed`), PATIENCE_MS);
        onLook = () => {
          if (!pattern.test(screen.lines().join("\n"))) return;
          clearTimeout(timer);
          onLook = () => {};
          resolve();
        };
        exited.then((code) => {
          clearTimeout(timer);
          fail(`it exited with ${code}`);
        });
        onLook();
      });
    },
    exited,
  };
}
