/**
 * What an agent should do, once more and as small as can be: lists of names and counts of tasks, no settings, no events.
 * Written from semantics.md, not from the code that it is held against.
 */
export interface Message {
  readonly id: string;
  readonly caller: boolean;
  readonly content: string;
  readonly dueMs: number;
  /** How many tasks it brings; those of the platform live for one run. */
  readonly tasks: number;
  readonly child?: string;
}

export type Fate = "DEFERRED" | "QUEUED" | "DELIVERED" | "CLEARED" | "REMOVED";
export type Cut = "interrupt" | "kill" | "preempt" | "timeout";

export interface Turn {
  state: "starting" | "running" | "interrupting" | "recovering";
  readonly startedMs: number;
  aliveMs: number;
  /** Nothing more will be done about it by time: it is being killed, or will be. */
  doomed: boolean;
  ephemeral: number;
  reminders: number;
  reminderOwed: boolean;
  spoke: boolean;
}

export const LIMITS = { turnMs: 3_600_000, silenceMs: 600_000, stoppingMs: 30_000, queued: 6, deferred: 4 };

export class Model {
  nowMs = 0;
  end: "" | "STOPPING" | "CANCELED" | "FAILED" | "COMPLETED" = "";
  stoppedMs = 0;
  processesGone = false;
  queue: Message[] = [];
  deferred: Message[] = [];
  fates = new Map<string, Fate>();
  contents = new Map<string, string>();
  /** In the order in which they went out, each with its run. */
  delivered: string[] = [];
  runs = 0;
  /** Nobody ever works on them. */
  openTasks = 0;
  turn: Turn | undefined;
  word: "" | "ask" | "done" = "";
  cutShort = false;
  failures = 0;
  outages = 0;
  /** Live children, and whether each waits. */
  children = new Map<string, boolean>();

  alive(): boolean {
    return this.end === "";
  }

  phase(): string {
    if (this.end !== "") return this.end;
    if (this.turn) return "RUNNING";
    if (this.runs === 0 || this.queue.length > 0) return "PENDING";
    if (this.word === "ask" || this.cutShort) return "WAITING_FOR_INPUT";
    if (this.deferred.length > 0 || [...this.children.values()].includes(false)) return "SLEEPING";
    return this.word === "done" && this.children.size === 0 ? "COMPLETED" : "WAITING_FOR_INPUT";
  }

  /** Every decision begins with this … */
  promote(): void {
    this.deferred.sort((a, b) => a.dueMs - b.dueMs);
    while (this.deferred[0] && this.deferred[0].dueMs <= this.nowMs)
      this.push(this.deferred.shift() as Message);
  }

  /** … and ends with this. */
  settle(hadTurn: boolean, slotWanted: boolean): void {
    if (!this.alive() || this.turn) return;
    if (hadTurn && !slotWanted && this.phase() === "PENDING") this.start();
    if (this.phase() === "COMPLETED") this.end = "COMPLETED";
  }

  push(message: Message): void {
    this.queue.push(message);
    this.fates.set(message.id, "QUEUED");
  }

  start(): void {
    this.runs++;
    const { nowMs } = this;
    const none = { doomed: false, ephemeral: 0, reminders: 0, reminderOwed: false, spoke: false };
    this.turn = { state: "starting", startedMs: nowMs, aliveMs: nowMs, ...none };
    if (this.runs === 1) {
      this.word = "";
      return;
    }
    const batch = [this.queue.shift() as Message];
    while (!batch[0]?.caller && this.queue[0] && !this.queue[0].caller)
      batch.push(this.queue.shift() as Message);
    if (batch[0]?.caller) {
      this.word = "";
      this.openTasks += batch[0].tasks;
    } else this.turn.ephemeral = Math.max(...batch.map(({ tasks }) => tasks)); // all have the same dedupKey
    for (const { id } of batch) {
      this.fates.set(id, "DELIVERED");
      this.delivered.push(id);
    }
  }

  /** The agent program ended the turn; at most three times it is reminded of what is open. */
  endedByItself(turn: Turn): void {
    const open = this.openTasks + turn.ephemeral > 0;
    const completes = this.word === "done" && (turn.spoke || this.deferred.length + this.children.size === 0);
    const held = open && completes && this.queue.length === 0;
    if (held && turn.reminders < 3) {
      turn.reminders++;
      turn.reminderOwed = true;
      turn.aliveMs = this.nowMs;
    } else this.endTurn(held);
  }

  endTurn(cutShort: boolean): void {
    this.turn = undefined;
    this.cutShort = cutShort;
    this.failures = 0;
    this.outages = 0;
  }

  /** Returns whether anything was cut. */
  cut(how: Cut): boolean {
    const turn = this.turn;
    if (!turn || (how === "preempt" && turn.state === "starting")) return false;
    if (turn.state === "starting" || turn.state === "recovering") this.endTurn(true);
    else if (turn.state === "running") {
      turn.state = "interrupting";
      turn.doomed = how === "kill" || how === "timeout";
    } else if (how === "kill" || how === "timeout") turn.doomed = true;
    else return false;
    return true;
  }

  clear(messages: readonly Message[]): void {
    for (const { id } of messages) this.fates.set(id, "CLEARED");
    this.queue = this.queue.filter((m) => !messages.includes(m));
    this.deferred = this.deferred.filter((m) => !messages.includes(m));
  }

  fail(): void {
    this.endTurn(true);
    this.clear([...this.queue, ...this.deferred]);
    this.end = "FAILED";
  }

  tryCancel(): void {
    if (this.end !== "STOPPING" || this.children.size > 0) return;
    if (!this.processesGone && this.nowMs < this.stoppedMs + LIMITS.stoppingMs) return;
    this.clear([...this.queue, ...this.deferred]);
    this.end = "CANCELED";
  }

  timePassed(): void {
    const turn = this.turn;
    if (turn && !turn.doomed) {
      const speaks = turn.state === "running" || turn.state === "interrupting";
      const late = this.nowMs >= turn.startedMs + LIMITS.turnMs;
      if (late || (speaks && this.nowMs >= turn.aliveMs + LIMITS.silenceMs)) this.cut("timeout");
    }
    this.tryCancel();
  }
}
