import { SetupState } from "../../../gen/retinue/v1/event_pb.js";
import type { Agent } from "../../domain/agent/agent.js";
import { branchOf } from "../../domain/agent/branch.js";
import { repoPushed } from "../../domain/agent/repo-push.js";
import { setUpReported } from "../../domain/agent/turn-report.js";
import type { Push, RepoSpec, SetupStep, Workspace, Workspaces } from "../../runner/workspaces.js";
import type { Store } from "../../storage/store.js";
import type { Clock } from "../clock.js";
import type { Agents } from "./agents.js";
import type { Documents } from "./documents.js";
import { agentOf } from "./rows.js";

/** Makes ready what an agent works on, before each start of its process; tells the log of it, and of every push. */
export interface SetUp {
  /** Errors: `RunnerError`. */
  open(agent: Agent, processToken: string, signal: AbortSignal): Promise<Workspace>;
}

export interface SetUpOptions {
  readonly workspaces: Workspaces;
  readonly documents: Documents;
  readonly store: Store;
  readonly clock: Clock;
  readonly agents: Agents;
  /** Something was pushed that the upstream has not got. */
  readonly pushed: () => void;
}

const STATES = {
  started: SetupState.STARTED,
  done: SetupState.DONE,
  failed: SetupState.FAILED,
} as const;

export function createSetUp(options: SetUpOptions): SetUp {
  const { workspaces, documents, store, clock, agents } = options;

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

  return {
    async open(agent, processToken, signal) {
      const repos = await reposOf(agent);
      const urlOf = (name: string) => repos.find((repo) => repo.name === name)?.url ?? "";
      /** In order, and all stored before the process starts. */
      let told: Promise<unknown> = Promise.resolve();
      try {
        return await workspaces.open({
          uid: agent.uid,
          tenant: agent.key.tenant,
          branch: branchOf(agent),
          author: agent.key.path.join("/"),
          repos,
          parent: await parentOf(agent),
          processToken,
          onStep: (step) => {
            told = told.then(() => tell(agent, step));
          },
          onPush: (push) => record(agent, push, urlOf(push.repo)),
          signal,
        });
      } finally {
        await told;
      }
    },
  };
}
