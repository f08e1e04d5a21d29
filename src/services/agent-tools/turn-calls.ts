import type { Agent } from "../../domain/agent/agent.js";
import type { Decision as AgentDecision, Context } from "../../domain/agent/decision.js";
import { requireFound } from "../../domain/agent/phase.js";
import { fencedTurn } from "../../domain/agent/turn.js";
import type { TurnCaller } from "../../domain/caller.js";
import { failedPrecondition, permissionDenied } from "../../domain/fault.js";
import type { Agents } from "../../engine/agents/agents.js";
import { agentOf } from "../../engine/agents/rows.js";
import type { Stage } from "../../engine/agents/stage.js";
import type { Store } from "../../storage/store.js";
import type { CallContext } from "../service.js";

/** Calls that speak for a turn: each is refused once that turn is over, in the commit that it would make. */
export interface TurnCalls {
  read(uid: string): Promise<Agent>;
  /** The agent whose turn it is. */
  own(turn: TurnCaller): Promise<Agent>;
  /** A rule about the agent itself. */
  decide<R>(turn: TurnCaller, rule: (agent: Agent, context: Context) => AgentDecision<R>): Promise<R>;
}

export function createTurnCalls(store: Store, agents: Agents): TurnCalls {
  const read = async (uid: string) => agentOf(requireFound(await store.agent(uid), [])).agent;
  return {
    read,
    own: async (turn) => requireHeld(await read(turn.uid), turn),
    decide(turn, rule) {
      return agents.change("agent", (stage) => {
        const agent = requireTurn(stage, turn);
        return stage.apply(rule(agent, stage.contextOf(agent)));
      });
    },
  };
}

export function turnOf({ caller }: CallContext): TurnCaller {
  if (caller.turn === undefined) throw permissionDenied("only an agent at work on a turn may call this");
  return caller.turn;
}

/** The agent whose turn it is, still. */
export function requireTurn(stage: Stage, turn: TurnCaller): Agent {
  return requireHeld(stage.require(turn.uid).agent, turn);
}

function requireHeld(agent: Agent, turn: TurnCaller): Agent {
  if (fencedTurn(agent, turn) !== undefined) return agent;
  throw failedPrecondition(
    "TURN_OVER",
    agent.key.path.join("/"),
    `run ${turn.runId} is over: nothing was changed`,
  );
}
