import { poolConfig } from "../../../../src/domain/catalog/kinds/pool-config.js";
import { type BadRow, describedRows, type GoodRow, testRows } from "./violation-rows.js";

const described = describedRows({ slots: 8 });

const good: GoodRow[] = [
  ...described.good,
  ["takes one slot", { slots: 1 }],
  ["takes 1000 slots", { slots: 1000 }],
  ["takes shares up to all slots", { slots: 8, slotsPerAccount: 8, slotsPerTree: 1 }],
];

const bad: BadRow[] = [
  ...described.bad,
  ["refuses no slots", {}, "slots", "from 1 to 1000, is 0"],
  ["refuses fewer than none", { slots: -1 }, "slots", "from 1 to 1000, is -1"],
  ["refuses 1001 slots", { slots: 1001 }, "slots", "from 1 to 1000, is 1001"],
  [
    "refuses a larger share than there is",
    { slots: 8, slotsPerAccount: 9 },
    "slotsPerAccount",
    "which is 8; is 9",
  ],
  ["refuses a negative share", { slots: 8, slotsPerAccount: -1 }, "slotsPerAccount", "from 0"],
  ["refuses a larger tree than there is", { slots: 8, slotsPerTree: 9 }, "slotsPerTree", "which is 8; is 9"],
  ["refuses a negative tree", { slots: 8, slotsPerTree: -1 }, "slotsPerTree", "from 0"],
  ["says nothing of shares while there are no slots", { slotsPerTree: 9 }, "slots", "from 1 to 1000"],
];

testRows(poolConfig, good, bad);
