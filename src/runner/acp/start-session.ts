import type { Session, SessionSpec } from "../runner.js";
import { RunnerError } from "../runner-error.js";
import type { AgentProcess } from "./agent-process.js";
import { connect, initialize } from "./connection.js";
import { createCostMeter } from "./cost-meter.js";
import { record } from "./json.js";
import { CLAUDE_MESSAGE } from "./message-stream.js";
import { openSession } from "./open-session.js";
import { allowOwnTools } from "./permission.js";
import { createSettings, type SessionSettings } from "./settings.js";
import { createTurns, type Turns } from "./turns.js";
import { createUpdateReader } from "./updates.js";

/** Opens the session of a process just started. Errors: `RunnerError`; the process is the caller's to end. */
export async function startSession(agentProcess: AgentProcess, spec: SessionSpec): Promise<Session> {
  let sessionRef: string | undefined;
  let settings: SessionSettings | undefined;
  let turns: Turns | undefined;
  const cost = createCostMeter();
  const reader = createUpdateReader({
    sessionRef: () => sessionRef,
    cost,
    inTurn: () => turns?.held() === true,
    onConfigOptions: (options) => settings?.changed(options),
  });
  const { agent, explain } = connect(agentProcess, {
    onNotice: (method, params) => {
      if (method === CLAUDE_MESSAGE) turns?.gaveOutput(record(record(params).message).structured_output);
      else {
        const updates = reader.read(params);
        turns?.tell(updates);
      }
    },
    onPermission: (request) => turns?.permit(request) ?? { outcome: { outcome: "cancelled" } },
  });
  /** A connection that breaks says nothing of why. */
  const explained = async <T>(act: () => Promise<T>): Promise<T> => {
    try {
      return await act();
    } catch (error) {
      throw new RunnerError(await explain(error));
    }
  };

  return explained(async () => {
    const info = await initialize(agent);
    const opened = await openSession(agent, info, spec);
    sessionRef = opened.sessionRef;
    const options = createSettings(agent, sessionRef, opened.options);
    settings = options;
    await options.apply(spec.settings);
    if (opened.resumed) cost.resumeAt(spec.costSoFar ?? 0);
    // A loaded session replays its calls.
    reader.tools.clear();
    const held = createTurns({
      agent,
      sessionId: sessionRef,
      reader,
      cost,
      policy: spec.permit ?? allowOwnTools,
      emptyUsageIsFailure: spec.program.emptyUsageIsFailure === true,
      explain,
      onPrompt: () => agentProcess.guard.reset(),
    });
    turns = held;
    return {
      sessionRef,
      resumed: opened.resumed,
      build: info.build,
      process: agentProcess.ref,
      apply: (wanted) => explained(() => options.apply(wanted)),
      prompt: held.prompt,
      cancel: held.cancel,
      close: agentProcess.close,
      kill: () => agentProcess.kill(),
      exited: agentProcess.exited,
    };
  });
}
