import { vmProfile } from "../../../../src/domain/catalog/kinds/vm-profile.js";
import { type BadRow, describedRows, type GoodRow, testRows } from "./violation-rows.js";

const described = describedRows({});

const good: GoodRow[] = [
  ...described.good,
  ["may leave everything to the server", {}],
  ["takes no sandbox", { sandbox: "SANDBOX_NONE", network: "NETWORK_ACCESS_FULL" }],
  [
    "takes a sandbox with the model's network only",
    { sandbox: "SANDBOX_BWRAP", network: "NETWORK_ACCESS_MODEL_ONLY" },
  ],
  ["takes the least limits", { memoryMib: 64, maxProcesses: 8 }],
  ["takes the greatest limits", { memoryMib: "4194304", maxProcesses: 100_000 }],
];

const bad: BadRow[] = [
  ...described.bad,
  ["refuses an unknown sandbox", { sandbox: "SANDBOX_VM" }, "sandbox", "SANDBOX_BWRAP"],
  [
    "refuses a closed network without a sandbox that closes it",
    { sandbox: "SANDBOX_NONE", network: "NETWORK_ACCESS_MODEL_ONLY" },
    "network",
    "needs the sandbox SANDBOX_BWRAP",
  ],
  ["refuses too little memory", { memoryMib: 63 }, "memoryMib", "from 64 to 4194304, or 0"],
  ["refuses too much memory", { memoryMib: 4194305 }, "memoryMib", "is 4194305"],
  ["refuses too few processes", { maxProcesses: 7 }, "maxProcesses", "from 8 to 100000"],
  ["refuses fewer than none", { maxProcesses: -1 }, "maxProcesses", "is -1"],
];

testRows(vmProfile, good, bad);
