import type { Environment } from "../../../gen/retinue/v1/catalog_pb.js";
import { SetupState } from "../../../gen/retinue/v1/event_pb.js";
import type { Agent } from "../../domain/agent/agent.js";
import { branchOf } from "../../domain/agent/branch.js";
import { repoPushed } from "../../domain/agent/repo-push.js";
import { setUpReported } from "../../domain/agent/turn-report.js";
import type { Runner, Surroundings } from "../../runner/runner.js";
import { fatal, RunnerError } from "../../runner/runner-error.js";
import type { Push, RepoSpec, SetupStep, Workspace, Workspaces } from "../../runner/workspaces.js";
import type { Store } from "../../storage/store.js";
import type { Secrets } from "../catalog/secrets.js";
import type { Clock } from "../clock.js";
import type { Agents } from "./agents.js";
import type { Documents } from "./documents.js";
import type { Masks } from "./masks.js";
import { agentOf } from "./rows.js";
import { runSetUpCommands } from "./set-up-commands.js";

/** Makes ready what an agent works on, before each start of its process; tells the log of it, and of every push. */
export interface SetUp {
  /** Errors: `RunnerError`. */
  open(agent: Agent, bare: Surroundings, signal: AbortSignal): Promise<SetUpWorkspace>;
}

export interface SetUpWorkspace {
  /** With all that the workspace and the environment bring. */
  readonly surroundings: Surroundings;
  close(): Promise<void>;
}

export interface SetUpOptions {
  readonly workspaces: Workspaces;
  readonly runner: Runner;
  readonly documents: Documents;
  readonly secretValue: Secrets["secretValue"];
  readonly masks: Masks;
  readonly store: Store;
  readonly clock: Clock;
  readonly agents: Agents;
  /** Something was pushed that the upstream has not got. */
  readonly pushed: () => void;
}

const STATES = {
  started: SetupState.STARTED,
  output: SetupState.OUTPUT,
  done: SetupState.DONE,
  failed: SetupState.FAILED,
} as const;

export function createSetUp(options: SetUpOptions): SetUp {
  const { workspaces, runner, documents, store, clock, agents } = options;

  function tell({ uid, turn }: Agent, { name, state, output }: SetupStep): Promise<void> {
    return agents.change("system", (stage) => {
      const value = stage.agent(uid);
      if (value === undefined || turn === undefined) return;
      const step = { name, state: STATES[state], output };
      stage.apply(setUpReported(value.agent, { ...turn, step }));
    });
  }

  /** The event, the tasks that it activates and the debt to the upstream are one commit. */
  async function record({ uid }: Agent, push: Push, url: string): Promise<void> {
    const { repo, branch, commit } = push;
    const known = (await store.pushes(uid)).find((row) => row.repo === repo && row.branch === branch);
    // Told before, by a server that died before it could note so.
    if (known?.commit === commit) return;
    const recorded = await agents.change("agent", (stage) => {
      const value = stage.agent(uid);
      if (value?.agent.turn === undefined) return false;
      const { runId, attempt } = value.agent.turn;
      stage.apply(repoPushed(value.agent, { ...push, runId, attempt }, stage.contextOf(value.agent)));
      stage.add({ type: "push", row: { uid, repo, branch, url, commit, pushedAtMs: clock.nowMs() } });
      return true;
    });
    if (!recorded) throw new Error(`agent ${uid} pushed outside of a run`);
    options.pushed();
  }

  async function parentOf({ parentUid }: Agent) {
    const record = parentUid === "" ? undefined : await store.agent(parentUid);
    return record && { uid: parentUid, branch: branchOf(agentOf(record).agent) };
  }

  async function reposOf({ key }: Agent): Promise<RepoSpec[]> {
    const workspace = await documents.workspace(key.tenant, key.workspace);
    return (workspace?.repos ?? []).map(({ name, url, baseBranch }) => ({ name, url, baseBranch }));
  }

  /** Variables of the environment, and those of their values that are secret. */
  async function variablesOf({ key, environment: name }: Agent, environment: Environment | undefined) {
    const variables: Record<string, string> = {};
    const secrets: string[] = [];
    for (const variable of environment?.variables ?? []) {
      const { source } = variable;
      const value =
        source.case === "secret" ? await options.secretValue(key.tenant, source.value) : source.value;
      if (value === undefined) {
        const message = `environment ${name}, variable ${variable.name}: there is no secret ${source.value}`;
        throw new RunnerError(fatal("workspace_setup", message));
      }
      variables[variable.name] = value;
      if (source.case === "secret") secrets.push(value);
    }
    return { variables, secrets };
  }

  return {
    async open(agent, bare, signal) {
      const { uid, key } = agent;
      const repos = await reposOf(agent);
      const urlOf = (name: string) => repos.find((repo) => repo.name === name)?.url ?? "";
      const environment = await documents.environment(key.tenant, agent.environment);
      const { variables, secrets } = await variablesOf(agent, environment);
      options.masks.add(uid, secrets);
      /** In order, and all stored before the process starts. */
      let told: Promise<unknown> = Promise.resolve();
      const onStep = (step: SetupStep) => {
        told = told.then(() => tell(agent, step));
      };
      let workspace: Workspace | undefined;
      try {
        workspace = await workspaces.open({
          uid,
          tenant: key.tenant,
          branch: branchOf(agent),
          author: key.path.join("/"),
          repos,
          parent: await parentOf(agent),
          processToken: bare.processToken,
          onStep,
          onPush: (push) => record(agent, push, urlOf(push.repo)),
          signal,
        });
        const surroundings = { ...bare, readable: workspace.readable, variables, secrets };
        if (environment && !workspace.ready) {
          await runSetUpCommands({ runner, environment, surroundings, signal, onStep });
          await workspace.markReady();
        }
        return { surroundings, close: workspace.close };
      } catch (error) {
        await workspace?.close();
        throw masked(uid, error);
      } finally {
        await told;
      }
    },
  };

  function masked(uid: string, error: unknown): unknown {
    if (!(error instanceof RunnerError)) return error;
    const { kind, message, retryable, fatal: isFatal } = error;
    return new RunnerError({ kind, message: options.masks.text(uid, message), retryable, fatal: isFatal });
  }
}
