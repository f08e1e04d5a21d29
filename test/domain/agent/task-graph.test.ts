import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { TaskStatus } from "../../../gen/retinue/v1/task_pb.js";
import type { Task } from "../../../src/domain/agent/task.js";
import { findCycle, symmetric, without } from "../../../src/domain/agent/task-graph.js";

function node(id: string, blockedBy: string[] = [], blocks: string[] = []): Task {
  const plain = { subject: "", description: "", status: TaskStatus.PENDING, filesModified: undefined };
  return { ...plain, id, blocks, blockedBy, persona: "", dedupKey: "", ephemeral: false, active: true };
}

const edges = fc.array(fc.tuple(fc.nat(7), fc.nat(7), fc.boolean()), { maxLength: 14 });

function graph(list: [number, number, boolean][]): Task[] {
  return Array.from({ length: 8 }, (_, i) => {
    const blockedBy = list.filter(([a, , side]) => a === i && side).map(([, b]) => `${b}`);
    const blocks = list.filter(([, b, side]) => b === i && !side).map(([a]) => `${a}`);
    return node(`${i}`, [...new Set(blockedBy)], [...new Set(blocks)]);
  });
}

describe("task graph", () => {
  it("finds a ring, and only a ring", () => {
    fc.assert(
      fc.property(edges, (list) => {
        const cycle = findCycle(graph(list));
        const reach = (from: number, to: number, seen = new Set<number>()): boolean =>
          list.some(([a, b]) => {
            if (a !== from || seen.has(b)) return false;
            seen.add(b);
            return b === to || reach(b, to, seen);
          });
        const has = Array.from({ length: 8 }, (_, i) => i).some((i) => reach(i, i));
        assert.equal(cycle !== undefined, has);
        cycle?.forEach((id, i) => {
          const next = Number(cycle[(i + 1) % cycle.length]);
          assert.ok(
            list.some(([a, b]) => a === Number(id) && b === next),
            "each waits for the next",
          );
        });
      }),
      { numRuns: 2000 },
    );
  });
  it("makes edges symmetric once and for all, and keeps what is so already", () => {
    fc.assert(
      fc.property(edges, (list) => {
        const once = symmetric(graph(list));
        const byId = new Map(once.map((t) => [t.id, t]));
        for (const t of once) {
          for (const id of t.blocks) assert.ok(byId.get(id)?.blockedBy.includes(t.id));
          for (const id of t.blockedBy) assert.ok(byId.get(id)?.blocks.includes(t.id));
        }
        for (const [i, t] of symmetric(once).entries()) assert.equal(t, once[i]);
      }),
    );
  });
  it("takes a task away with every edge to it, and touches no other", () => {
    const tasks = symmetric([node("a"), node("b", ["a"]), node("c")]);
    const left = without(tasks, new Set(["a"]));
    assert.deepEqual(
      left.map(({ id, blockedBy }) => [id, blockedBy]),
      [
        ["b", []],
        ["c", []],
      ],
    );
    assert.equal(left[1], tasks[2]);
  });
});
