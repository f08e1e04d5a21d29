import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createSlots, type PoolLimits } from "../../src/engine/agents/slots.js";

/** A pool whose grants are used at once, as a turn that starts uses them. */
function pool(size: number, shares: Partial<PoolLimits> = {}) {
  const running: string[] = [];
  const slots = createSlots(
    { slots: size, slotsPerAccount: 0, slotsPerTree: 0, ...shares },
    (uid) => void running.push(uid),
  );
  return {
    ...slots,
    running,
    /** Ancestors are spelled in the name: `a.b` is a child of `a`. */
    ask(uid: string, account = "one") {
      const parts = uid.split(".");
      const ancestors = parts.slice(0, -1).map((_, i) => parts.slice(0, parts.length - 1 - i).join("."));
      slots.request(uid, account, ancestors);
      if (slots.holds(uid)) slots.hold(uid, 1, ancestors, account);
    },
    end(uid: string) {
      running.splice(running.indexOf(uid), 1);
      slots.release(uid);
    },
  };
}

describe("slots", () => {
  test("are granted in order, as many as there are", () => {
    const { ask, end, running } = pool(2);
    for (const uid of ["a", "b", "c"]) ask(uid);
    assert.deepEqual(running, ["a", "b"]);
    end("a");
    assert.deepEqual(running, ["b", "c"]);
  });

  test("go round among the accounts that wait", () => {
    const { ask, end, running } = pool(1);
    ask("a1", "a");
    ask("a2", "a");
    ask("a3", "a");
    ask("b1", "b");
    end("a1");
    end("a2");
    assert.deepEqual(running, ["b1"]);
  });

  test("that are lent are for those below, and for nobody else", () => {
    const { ask, lend, running } = pool(1);
    ask("a");
    ask("stranger", "other");
    ask("a.b");
    assert.deepEqual(running, ["a"]);
    lend("a");
    assert.deepEqual(running, ["a", "a.b"]);
  });

  test("are lent to one at a time", () => {
    const { ask, end, lend, running } = pool(1);
    ask("a");
    lend("a");
    ask("a.b");
    ask("a.c");
    assert.deepEqual(running, ["a", "a.b"]);
    end("a.b");
    assert.deepEqual(running, ["a", "a.c"]);
  });

  test("reach grandchildren across a parent that holds none", () => {
    const { ask, lend, running } = pool(1);
    ask("a");
    lend("a");
    ask("a.asleep.c");
    assert.deepEqual(running, ["a", "a.asleep.c"]);
  });

  test("a borrower can lend on", () => {
    const { ask, end, lend, running } = pool(1);
    ask("a");
    lend("a");
    ask("a.b");
    lend("a.b");
    ask("a.b.c");
    assert.deepEqual(running, ["a", "a.b", "a.b.c"]);
    end("a.b.c");
    end("a.b");
    ask("stranger");
    assert.deepEqual(running, ["a"], "the slot is its lender's again");
  });

  test("taken back in use make one turn more, and no further grant until it is over", () => {
    const { ask, end, lend, running } = pool(1);
    ask("a");
    const takeBack = lend("a");
    ask("a.b");
    takeBack();
    ask("a.c");
    end("a.b");
    assert.deepEqual(running, ["a"], "the slot is used by its own turn");
    lend("a");
    assert.deepEqual(running, ["a", "a.c"]);
  });

  test("lent again while the borrower still runs are lent to that one", () => {
    const { ask, lend, running } = pool(1);
    ask("a");
    lend("a")();
    const takeBack = lend("a");
    ask("a.b");
    takeBack();
    lend("a");
    ask("a.c");
    assert.deepEqual(running, ["a", "a.b"]);
  });

  test("two calls that wait lend one slot, until both are over", () => {
    const { ask, end, lend, running } = pool(1);
    ask("a");
    const [first, second] = [lend("a"), lend("a")];
    ask("a.b");
    ask("a.c");
    assert.deepEqual(running, ["a", "a.b"]);
    first();
    first();
    end("a.b");
    assert.deepEqual(running, ["a", "a.c"]);
    end("a.c");
    second();
    ask("a.d");
    assert.deepEqual(running, ["a"]);
  });

  test("when the lender's turn ends the borrower keeps its slot and counts itself", () => {
    const { ask, end, lend, running } = pool(1);
    ask("a");
    lend("a");
    ask("a.b");
    end("a");
    ask("stranger");
    assert.deepEqual(running, ["a.b"]);
    end("a.b");
    assert.deepEqual(running, ["stranger"]);
  });

  test("lent by a turn that is over are not lent by the next one", () => {
    const { ask, end, hold, lend, running } = pool(1);
    ask("a");
    const takeBack = lend("a");
    hold("a", 2, [], "one");
    ask("a.b");
    assert.deepEqual(running, ["a"], "the next run of the same agent has not lent it");
    const next = lend("a");
    takeBack();
    assert.deepEqual(running, ["a", "a.b"], "and is not troubled by the end of the earlier call");
    end("a.b");
    next();
  });

  test("three levels of parents that wait get through any pool", () => {
    for (const size of [1, 2, 8]) {
      const { ask, end, lend, running } = pool(size);
      const [begun, ended] = [new Set<string>(), new Set<string>()];
      for (let i = 0; i < 12; i++) ask(`${i}`);
      for (let moved = true; moved; ) {
        moved = false;
        for (const uid of [...running]) {
          const leaf = uid.split(".").length === 3;
          if (begun.has(uid) && !leaf && !ended.has(`${uid}.x`)) continue;
          moved = true;
          if (begun.has(uid) || leaf) {
            ended.add(uid);
            end(uid);
          } else {
            begun.add(uid);
            lend(uid);
            ask(`${uid}.x`);
          }
        }
      }
      assert.equal(ended.size, 36, `all of them ran in a pool of ${size}`);
    }
  });

  test("an account has at most its share, and holds nobody else up", () => {
    const { ask, end, running, counts } = pool(3, { slotsPerAccount: 2 });
    for (const uid of ["a1", "a2", "a3"]) ask(uid, "a");
    assert.deepEqual(running, ["a1", "a2"]);
    assert.deepEqual(counts(), { held: 2, waiting: 1 });
    ask("b1", "b");
    assert.deepEqual(running, ["a1", "a2", "b1"]);
    end("b1");
    assert.deepEqual(running, ["a1", "a2"]);
    end("a1");
    assert.deepEqual(running, ["a2", "a3"]);
  });

  test("a tree has at most its share, and what it lends is no part of it", () => {
    const { ask, running, lend } = pool(3, { slotsPerTree: 1 });
    ask("a");
    ask("a.b");
    ask("c");
    assert.deepEqual(running, ["a", "c"]);
    lend("a");
    assert.deepEqual(running, ["a", "c", "a.b"]);
  });

  test("a pool that grows grants, and one that shrinks takes nothing away", () => {
    const { ask, end, running, resize } = pool(1);
    for (const uid of ["a", "b", "c"]) ask(uid);
    resize({ slots: 2, slotsPerAccount: 0, slotsPerTree: 0 });
    assert.deepEqual(running, ["a", "b"]);
    resize({ slots: 1, slotsPerAccount: 0, slotsPerTree: 0 });
    end("a");
    assert.deepEqual(running, ["b"]);
    end("b");
    assert.deepEqual(running, ["c"]);
  });
});
