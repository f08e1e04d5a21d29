import { useState } from "preact/hooks";
import { messageOf } from "../state/api.js";

/** Something that is asked of the server: whether it is under way, why it was refused, and how to ask. */
export function useAction<A extends unknown[]>(work: (...args: A) => Promise<void>) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const run = async (...args: A): Promise<void> => {
    setBusy(true);
    setProblem("");
    try {
      await work(...args);
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  };
  return { busy, problem, run };
}
