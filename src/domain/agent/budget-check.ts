import { type FieldViolation, invalidFields } from "../fault.js";
import type { BudgetLimits } from "./budget.js";

/** A limit of nothing would make an agent that can never run: leave it out, or set one. */
export function checkBudget(budget: BudgetLimits | undefined): void {
  if (budget === undefined) return;
  const violations: FieldViolation[] = [];
  const check = (field: string, value: number | undefined, whole: boolean) => {
    if (
      value === undefined ||
      (value > 0 && Number.isFinite(value) && (!whole || Number.isSafeInteger(value)))
    )
      return;
    violations.push({ field: `budget.${field}`, description: "must be greater than 0" });
  };
  check("maxCostUsd", budget.maxCostUsd, false);
  check("maxTokens", budget.maxTokens, true);
  check("maxTurns", budget.maxTurns, true);
  check("maxWallTime", budget.maxWallTimeMs, false);
  if (violations.length > 0) throw invalidFields(violations);
}
