import type { Phase } from "../../../gen/retinue/v1/agent_pb.js";
import type { BudgetLimits, Spent } from "./budget.js";

/** What a child's commit tells its parent. */
export type ChildNotice =
  /** It rests and wants its caller; `question` when it asked, otherwise the reason. */
  | { readonly type: "waits"; readonly child: ChildName; readonly asked: boolean; readonly text: string }
  /** It moves again. */
  | { readonly type: "moves"; readonly child: ChildName }
  /** It reached a terminal phase. */
  | {
      readonly type: "ended";
      readonly child: ChildName;
      readonly phase: Phase;
      readonly result: string;
      readonly spent: Spent;
    }
  /** It, or something below it, used something, or its budget was changed. */
  | {
      readonly type: "spent";
      readonly child: ChildName;
      readonly budget: BudgetLimits | undefined;
      readonly spent: Spent;
      readonly reserved: Spent;
    };

export interface ChildName {
  readonly uid: string;
  readonly path: readonly string[];
}
