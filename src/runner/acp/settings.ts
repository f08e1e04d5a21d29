import { type ClientContext, methods, RequestError } from "@agentclientprotocol/sdk/unstable";
import type { TurnSettings } from "../runner.js";
import { fatal, RunnerError } from "../runner-error.js";
import {
  type ConfigChange,
  type ConfigOption,
  changeOf,
  findOption,
  forOptions,
  isSet,
  readConfigOptions,
  SETTINGS,
} from "./config-options.js";
import { record } from "./json.js";

/** The options of a session, as the program last told them. */
export interface SessionSettings {
  /** See `Session.apply`. */
  apply(settings: TurnSettings): Promise<readonly (keyof TurnSettings)[]>;
  /** The program changed them by itself. */
  changed(options: unknown): void;
}

export function createSettings(
  agent: ClientContext,
  sessionId: string,
  initial: readonly ConfigOption[],
): SessionSettings {
  let options = initial;

  const change = async ({ id: configId, value }: ConfigChange, name: string) => {
    const params = typeof value === "boolean" ? ({ type: "boolean", value } as const) : { value };
    try {
      const answer = await agent.request(methods.agent.session.setConfigOption, {
        sessionId,
        configId,
        ...params,
      });
      options = readConfigOptions(record(answer).configOptions);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const message = `the agent program refuses ${name} "${value}": ${error.message}`;
      throw new RunnerError(fatal("setting_refused", message));
    }
  };

  return {
    changed(told) {
      options = readConfigOptions(told);
    },
    async apply(asked) {
      const settings = forOptions(asked, options);
      const missing: (keyof TurnSettings)[] = [];
      for (const name of SETTINGS) {
        if (!isSet(settings, name)) continue;
        // Looked up anew each time: what a model offers may differ.
        const option = findOption(options, name);
        const wanted = option && changeOf(option, settings[name]);
        if (wanted !== undefined) await change(wanted, name);
        if (option === undefined && settings[name] !== false) missing.push(name);
      }
      return missing;
    },
  };
}
