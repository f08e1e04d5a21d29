/** Slots of a pool: how many turns run at once, and who is next. */
export interface Slots {
  /** Wants a slot; asking twice changes nothing. */
  request(uid: string, account: string, ancestors: readonly string[]): void;
  /** A turn is held: it uses the slot that was granted, or takes one, free or not, as a turn that outlives a restart. */
  hold(uid: string, run: number, ancestors: readonly string[], account: string): void;
  /** No turn is held: a slot that was used is given back, one that has just been granted is kept. */
  turnOver(uid: string): void;
  /** Gives the slot back, or withdraws the request. */
  release(uid: string): void;
  holds(uid: string): boolean;
  /**
   * The turn only waits for a child: until the answer is called, its slot is for whoever below it wants one. Taken back
   * while it is used, it makes one turn more than there are slots; nobody else is granted one until that is over.
   */
  lend(uid: string): () => void;
  /** Somebody waits. */
  readonly wanted: boolean;
  counts(): { readonly held: number; readonly waiting: number };
  /** The pool's document has changed. What is held above a smaller size stays held. */
  resize(limits: PoolLimits): void;
  /** Stops granting; what is held stays held. */
  stop(): void;
}

/** 0: no limit of its own. */
export interface PoolLimits {
  readonly slots: number;
  readonly slotsPerAccount: number;
  /** Of an agent at the top and all below it. */
  readonly slotsPerTree: number;
}

interface Holder {
  readonly state: "granted" | "used";
  /** The run that uses it; what an earlier one has lent is not lent any more. */
  readonly run: number;
  readonly account: string;
  /** From the parent up. */
  readonly ancestors: readonly string[];
}

interface Asker {
  readonly uid: string;
  readonly account: string;
  readonly ancestors: readonly string[];
}

/**
 * Fair by turns: the accounts that wait take slots one after the other, each for its own oldest request, so that
 * one account's hundred agents do not keep another's only one waiting. Were a slot not lent, a pool full of parents
 * that wait for their children would wait for ever.
 */
export function createSlots(initial: PoolLimits, granted: (uid: string) => void): Slots {
  let limits = initial;
  const held = new Map<string, Holder>();
  /** Insertion order is the order of the accounts' turns, and within one that of its requests. */
  const waiting = new Map<string, Map<string, Asker>>();
  /** Turns that wait for a child, and the calls in which they do. */
  const lenders = new Map<string, Set<symbol>>();
  /** Borrower to lender; a slot is lent to one at a time. */
  const loans = new Map<string, string>();
  let stopped = false;

  const inUse = () => held.size - loans.size;

  /** A borrower counts for nothing: its lender, of the same account and tree, does. */
  function hasRoom(asker: Asker): boolean {
    const { slotsPerAccount, slotsPerTree } = limits;
    if (slotsPerAccount === 0 && slotsPerTree === 0) return true;
    const counted = [...held].filter(([uid]) => !loans.has(uid));
    const ofAccount = counted.filter(([, { account }]) => account === asker.account).length;
    const ofTree = counted.filter(([uid, holder]) => treeOf(uid, holder) === treeOf(asker.uid, asker)).length;
    return (
      (slotsPerAccount === 0 || ofAccount < slotsPerAccount) && (slotsPerTree === 0 || ofTree < slotsPerTree)
    );
  }

  /** The oldest request, of the account whose turn it is, that no share of its own holds back. */
  function nextAsker(): Asker | undefined {
    for (const uids of waiting.values()) {
      for (const asker of uids.values()) if (hasRoom(asker)) return asker;
    }
    return undefined;
  }

  /** Slots that are lent and that nobody uses. */
  function idle(): ReadonlySet<string> {
    const lent = new Set(loans.values());
    return new Set([...lenders.keys()].filter((uid) => held.has(uid) && !lent.has(uid)));
  }

  function grant(): void {
    while (!stopped) {
      const asker = inUse() < limits.slots ? nextAsker() : undefined;
      if (asker !== undefined) {
        give(asker);
        continue;
      }
      const loan = nextLoan(idle());
      if (loan === undefined) return;
      loans.set(loan.asker.uid, loan.lender);
      give(loan.asker);
    }
  }

  function nextLoan(lendable: ReadonlySet<string>): { asker: Asker; lender: string } | undefined {
    if (lendable.size === 0) return undefined;
    for (const uids of waiting.values()) {
      for (const asker of uids.values()) {
        const lender = asker.ancestors.find((uid) => lendable.has(uid));
        if (lender !== undefined) return { asker, lender };
      }
    }
    return undefined;
  }

  function give({ uid, account, ancestors }: Asker): void {
    const uids = waiting.get(account);
    uids?.delete(uid);
    waiting.delete(account);
    if (uids !== undefined && uids.size > 0) waiting.set(account, uids);
    held.set(uid, { state: "granted", run: 0, account, ancestors });
    granted(uid);
  }

  function withdraw(uid: string): void {
    for (const [account, uids] of waiting) {
      if (uids.delete(uid) && uids.size === 0) waiting.delete(account);
    }
  }

  function drop(uid: string): void {
    if (!held.delete(uid)) return;
    loans.delete(uid);
    callIn(uid);
    grant();
  }

  /** What was lent by this one is lent no more; where that is too many, another lender above may step in. */
  function callIn(lender: string): void {
    lenders.delete(lender);
    for (const [borrower, from] of loans) if (from === lender) loans.delete(borrower);
    refinance();
  }

  function refinance(): void {
    for (const [uid, { ancestors }] of held) {
      if (inUse() <= limits.slots) return;
      const lendable = idle();
      const lender = loans.has(uid) ? undefined : ancestors.find((above) => lendable.has(above));
      if (lender !== undefined) loans.set(uid, lender);
    }
  }

  return {
    request(uid, account, ancestors) {
      if (held.has(uid)) return;
      waiting.set(account, (waiting.get(account) ?? new Map()).set(uid, { uid, account, ancestors }));
      grant();
    },
    hold(uid, run, ancestors, account) {
      withdraw(uid);
      const before = held.get(uid)?.run ?? 0;
      held.set(uid, { state: "used", run, account, ancestors });
      if (before !== 0 && before !== run) callIn(uid);
    },
    turnOver(uid) {
      if (held.get(uid)?.state === "used") drop(uid);
    },
    release(uid) {
      withdraw(uid);
      drop(uid);
    },
    holds: (uid) => held.has(uid),
    lend(uid) {
      const calls = lenders.get(uid) ?? new Set();
      const call = Symbol(uid);
      lenders.set(uid, calls.add(call));
      refinance();
      grant();
      return () => {
        calls.delete(call);
        if (calls.size === 0 && lenders.get(uid) === calls) callIn(uid);
      };
    },
    get wanted() {
      return waiting.size > 0;
    },
    counts() {
      const waits = [...waiting.values()].reduce((sum, uids) => sum + uids.size, 0);
      return { held: held.size, waiting: waits };
    },
    resize(next) {
      limits = next;
      grant();
    },
    stop() {
      stopped = true;
    },
  };
}

function treeOf(uid: string, { ancestors }: Pick<Asker, "ancestors">): string {
  return ancestors.at(-1) ?? uid;
}
