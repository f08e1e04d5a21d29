import { after } from "node:test";

const cleanups: (() => unknown)[] = [];

// At the top level, so that it runs when the file is done: an after() inside a before() runs right after that hook.
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

/** Runs when the test file is done, last in first out. */
export function cleanUp(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}
