import { model } from "../../../../src/domain/catalog/kinds/model.js";
import { type BadRow, describedRows, type GoodRow, testRows } from "./violation-rows.js";

const described = describedRows({ backend: "BACKEND_A" });
const a = (fields: object) => ({ backend: "BACKEND_A", ...fields });

const good: GoodRow[] = [
  ...described.good,
  ["takes backend A", a({})],
  ["takes backend B", { backend: "BACKEND_B" }],
  ["takes whatever the backend calls it", a({ modelId: "claude-opus-4-1@20250805[1m]" })],
  ["takes prices", a({ prices: { input: 1.25, cachedInput: 0.125, output: 10 } })],
  ["takes what costs nothing", a({ prices: { input: 0 } })],
];

const bad: BadRow[] = [
  ...described.bad,
  ["refuses no backend", {}, "backend", "BACKEND_A or BACKEND_B"],
  ["refuses the unset backend", { backend: "BACKEND_UNSPECIFIED" }, "backend", "BACKEND_A or BACKEND_B"],
  ["refuses a model ID of two words", a({ modelId: "a b" }), "modelId", "spaces"],
  ["refuses an endless model ID", a({ modelId: "x".repeat(201) }), "modelId", "at most 200"],
  ["refuses a negative price", a({ prices: { input: -1 } }), "prices.input", "0 or more; is -1"],
  [
    "refuses a price that is no number",
    a({ prices: { cachedInput: "NaN" } }),
    "prices.cachedInput",
    "is NaN",
  ],
  ["refuses an endless price", a({ prices: { output: "Infinity" } }), "prices.output", "is Infinity"],
];

testRows(model, good, bad);
