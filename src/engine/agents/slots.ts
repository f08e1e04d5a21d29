/** Slots of a pool: how many turns run at once, and who is next. */
export interface Slots {
  /** Wants a slot; asking twice changes nothing. */
  request(uid: string, account: string): void;
  /** A turn is held: it uses the slot that was granted, or takes one, free or not, as a turn that outlives a restart. */
  hold(uid: string): void;
  /** No turn is held: a slot that was used is given back, one that has just been granted is kept. */
  turnOver(uid: string): void;
  /** Gives the slot back, or withdraws the request. */
  release(uid: string): void;
  holds(uid: string): boolean;
  /** Somebody waits. */
  readonly wanted: boolean;
  /** Stops granting; what is held stays held. */
  stop(): void;
}

/**
 * Fair by turns: the accounts that wait take slots one after the other, each for its own oldest request, so that
 * one account's hundred agents do not keep another's only one waiting.
 */
export function createSlots(size: number, granted: (uid: string) => void): Slots {
  const held = new Map<string, "granted" | "used">();
  /** Insertion order is the order of the accounts' turns, and within one that of its requests. */
  const waiting = new Map<string, Set<string>>();
  let stopped = false;

  function grant(): void {
    for (const [account, uids] of waiting) {
      if (stopped || held.size >= size) return;
      const [uid] = uids as Set<string>;
      if (uid === undefined) continue;
      uids.delete(uid);
      waiting.delete(account);
      if (uids.size > 0) waiting.set(account, uids);
      held.set(uid, "granted");
      granted(uid);
    }
    if (waiting.size > 0 && held.size < size) grant();
  }

  function withdraw(uid: string): void {
    for (const [account, uids] of waiting) {
      if (uids.delete(uid) && uids.size === 0) waiting.delete(account);
    }
  }

  return {
    request(uid, account) {
      if (held.has(uid)) return;
      waiting.set(account, (waiting.get(account) ?? new Set()).add(uid));
      grant();
    },
    hold(uid) {
      withdraw(uid);
      held.set(uid, "used");
    },
    turnOver(uid) {
      if (held.get(uid) !== "used") return;
      held.delete(uid);
      grant();
    },
    release(uid) {
      withdraw(uid);
      if (held.delete(uid)) grant();
    },
    holds: (uid) => held.has(uid),
    get wanted() {
      return waiting.size > 0;
    },
    stop() {
      stopped = true;
    },
  };
}
