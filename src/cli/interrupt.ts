import { CliError, EXIT } from "./exit.js";

/**
 * Runs work that Ctrl-C leaves, with the words that say what goes on without it. The agent is never touched: a second
 * Ctrl-C only ends this program at once.
 */
export async function leavable<T>(
  work: (signal: AbortSignal) => Promise<T>,
  whatGoesOn: () => { message: string; hint: string },
): Promise<T> {
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  process.once("SIGINT", leave);
  process.once("SIGTERM", leave);
  try {
    return await work(leaving.signal);
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    const { message, hint } = whatGoesOn();
    throw new CliError(message, EXIT.interrupted, hint);
  } finally {
    process.off("SIGINT", leave);
    process.off("SIGTERM", leave);
  }
}

/** What to say when somebody stops watching an agent. */
export function goesOn(path: string): { message: string; hint: string } {
  return {
    message: `left ${path}; the agent goes on`,
    hint: `watch it again with retinue follow ${path}, end it with retinue kill ${path}`,
  };
}
