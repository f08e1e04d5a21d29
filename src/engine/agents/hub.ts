import type { AgentRow } from "../../storage/agent-rows.js";

/** What goes out after a commit, and the text of running turns. Hints only: whoever listens reads the log. */
export interface Hub {
  /** Something about the agent was committed. */
  publish(row: AgentRow): void;
  /** A piece of what a running turn says; never stored. */
  say(uid: string, text: LiveChunk): void;
  /** Returns how to stop listening. */
  listen(uid: string, listener: Listener): () => void;
  /** Told of every agent; for good. */
  listenToAll(listener: (row: AgentRow) => void): void;
}

export interface LiveChunk {
  readonly runId: number;
  readonly attempt: number;
  readonly text: string;
}

export interface Listener {
  changed(): void;
  said?(chunk: LiveChunk): void;
}

export function createHub(): Hub {
  const listeners = new Map<string, Set<Listener>>();
  const toAll: ((row: AgentRow) => void)[] = [];
  const of = (uid: string) => [...(listeners.get(uid) ?? [])];
  return {
    publish(row) {
      for (const listener of of(row.uid)) listener.changed();
      for (const listener of toAll) listener(row);
    },
    say(uid, chunk) {
      for (const listener of of(uid)) listener.said?.(chunk);
    },
    listenToAll: (listener) => void toAll.push(listener),
    listen(uid, listener) {
      const set = listeners.get(uid) ?? new Set();
      listeners.set(uid, set.add(listener));
      return () => {
        set.delete(listener);
        if (set.size === 0 && listeners.get(uid) === set) listeners.delete(uid);
      };
    },
  };
}
