import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { agentProcesses } from "../support/agent-processes.js";
import { saidIn, typesOf, until } from "../support/agents.js";
import { BACKENDS, type Bench, openBench, SECRET } from "./bench.js";
import { commandLines } from "./command-lines.js";
import type { Json } from "./model/http.js";

for (const backend of BACKENDS) {
  describe(`turns of ${backend.name}`, () => {
    let bench: Bench;
    before(async () => {
      bench = await openBench(backend);
    });

    /** Once the model has been asked for the last message of the agent, and has begun to answer or to wait. */
    async function atWork(path: string, marker: string): Promise<Json> {
      const asked = async () => bench.turns().some((body) => JSON.stringify(body).includes(marker));
      await until(`${path}: the model is asked`, asked, (yes) => yes);
      return bench.agents.until(path, "at work", ({ turn }) => turn?.state === "TURN_STATE_RUNNING");
    }

    test("a turn is streamed, and its end is told", async () => {
      await bench.spawn("streams", "@say hello from the model\n@usage 100 20 30");
      const { status } = await bench.agents.wait("streams");
      assert.equal(status.lastTurn.outcome, "TURN_OUTCOME_COMPLETED", JSON.stringify(status));
      assert.equal(status.lastTurn.summary, "hello from the model");
      const events = await bench.agents.timeline("streams");
      assert.equal(saidIn(events), "hello from the model");
      assert.ok(typesOf(events).includes("USAGE"));
      assert.match(status.runtime.build, /^\S+ \d+\.\d+/);
    });

    test("a shell command runs in the agent's folder, and its output goes back to the model", async () => {
      await bench.spawn(
        "shell",
        `${backend.shell("echo from-$((40+2)) > made.txt && cat made.txt")}\n@result`,
      );
      const { status } = await bench.agents.wait("shell");
      assert.match(status.lastTurn.summary, /tool said: .*from-42/s);
      const events = await bench.agents.timeline("shell");
      const result = events.find(({ type }) => type === "EVENT_TYPE_TOOL_RESULT");
      assert.match(result.payload.toolResult.output, /from-42/);
    });

    test("tools of the service: a task is added, and the work declared done", async () => {
      const add = '@tool retinue_task_add {"id":"t1","subject":"look"}';
      const done = '@tool retinue_task_update {"id":"t1","status":"completed"}';
      await bench.spawn(
        "tools",
        `${add}\n@say added\n${done}\n@say moved\n@tool retinue_complete {"result":"all good"}\n@say bye`,
      );
      const { status, reason } = await bench.agents.wait("tools");
      assert.equal(reason, "WAIT_REASON_COMPLETED", JSON.stringify(status));
      assert.equal(status.result, "all good");
      assert.deepEqual(
        status.tasks.map(({ id, status: state }: Json) => [id, state]),
        [["t1", "TASK_STATUS_COMPLETED"]],
      );
    });

    test("an interrupt in mid-stream ends the turn, and the agent goes on with the next message", async () => {
      await bench.spawn("cut", "@say a beginning without an end MARK-CUT\n@hang");
      const { runCount } = await atWork("cut", "MARK-CUT");
      await bench.agents.get("stop-turn", "cut", { runId: runCount });
      const { status } = await bench.agents.wait("cut");
      assert.equal(status.lastTurn.outcome, "TURN_OUTCOME_INTERRUPTED");
      const { followUpId } = await bench.agents.queue("cut", "@say still here");
      const after = await bench.agents.wait("cut", { followUpId });
      assert.equal(after.status.lastTurn.summary, "still here");
      assert.ok(bench.model.requests.some(({ aborted }) => aborted));
    });

    test("an interrupt in the middle of a tool ends the tool, too", async () => {
      await bench.spawn("slow", `${backend.shell("sleep 4711")}\n@say never`);
      await bench.agents.until("slow", "runs the tool", ({ turn }) => turn?.state === "TURN_STATE_RUNNING");
      await until(
        "the tool runs",
        () => running("sleep 4711"),
        (count) => count > 0,
      );
      const { runCount } = await bench.agents.status("slow");
      await bench.agents.get("stop-turn", "slow", { runId: runCount });
      const { status } = await bench.agents.wait("slow");
      assert.equal(status.lastTurn.outcome, "TURN_OUTCOME_INTERRUPTED");
      await until(
        "the tool is gone",
        () => running("sleep 4711"),
        (count) => count === 0,
      );
    });

    test("KILL leaves no process, and the next message finds the session again", async () => {
      await bench.spawn("killed", "@say remember MARK-KILL\n@hang");
      const { runCount, uid } = await atWork("killed", "MARK-KILL");
      const folder = `${bench.server.dataDir}/agents/${uid}`;
      assert.ok((await agentProcesses(folder)).length > 0);
      // Programs write their sessions a moment later; what a KILL finds unwritten is lost to them.
      await until(
        "the session is written",
        () => holds(folder, "MARK-KILL"),
        (written) => written,
      );
      await bench.agents.get("stop-turn", "killed", { runId: runCount, mode: "STOP_TURN_MODE_KILL" });
      const { status } = await bench.agents.wait("killed");
      assert.equal(status.lastTurn.outcome, "TURN_OUTCOME_KILLED");
      assert.deepEqual(await agentProcesses(folder), []);
      const { followUpId } = await bench.agents.queue("killed", "@recall");
      const after = await bench.agents.wait("killed", { followUpId });
      assert.match(after.status.lastTurn.summary, /recalled: .*MARK-KILL/s);
    });

    test("an error that passes is tried again; one that does not fails the agent and says why", async () => {
      await bench.spawn("passes", "@error 529 1\n@say recovered");
      assert.equal((await bench.agents.wait("passes")).status.lastTurn.summary, "recovered");
      await bench.spawn("refused", "@error 401");
      const { status } = await bench.agents.wait("refused");
      assert.equal(status.phase, "PHASE_FAILED");
      assert.equal(status.lastError.kind, "backend_auth", JSON.stringify(status.lastError));
      assert.ok(!JSON.stringify(await bench.agents.timeline("refused")).includes(SECRET));
    });

    test("a restart of the server: the session goes on in a new process", async () => {
      await bench.spawn("resumed", "@say one MARK-ONE");
      await bench.agents.wait("resumed");
      const again = await bench.reopen();
      const { followUpId } = await again.agents.queue("resumed", "@recall");
      const { status } = await again.agents.wait("resumed", { followUpId });
      assert.match(status.lastTurn.summary, /recalled: .*MARK-ONE/s);
      assert.ok(!bench.server.logged.join("").includes(SECRET), "the log tells the model's key");
    });
  });
}

/** Whether any file below a folder holds a text. */
async function holds(folder: string, text: string): Promise<boolean> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
  return found.some((content) => content.includes(text));
}

/** How many processes of this machine were started with exactly these words. */
async function running(command: string): Promise<number> {
  return (await commandLines()).filter((line) => line === command).length;
}
