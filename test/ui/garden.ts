import { createAgentCaller } from "../support/agents.js";
import { encode, mintKey, rest, type TestServer } from "../support/server.js";

/** A server that looks lived in: agents in every phase, documents, keys, and something in the audit log. */
export async function plant(
  server: TestServer,
): Promise<{ readonly uid: string; readonly places: readonly Place[] }> {
  const agents = createAgentCaller(server, server.adminKey);
  const put = (ref: string, document: object, justification: string) =>
    rest(server, server.adminKey, "POST", `/v1/catalog/${ref}`, { payload: encode(document), justification });
  await put("workspace/shop", { displayName: "Shop", description: "The web shop" }, "first version");
  await put("workspace/docs", { displayName: "Handbook", description: "How we work" }, "the writers asked");
  await put("persona/reviewer", PERSONA, "reviews were too terse");
  await put(
    "persona/reviewer",
    { ...PERSONA, instructions: `${PERSONA.instructions}\n${MORE}` },
    "say what is good, too",
  );
  await mintKey(server, "ci", { displayName: "CI", account: "ci", role: "member" });
  await mintKey(server, "board", { displayName: "Status board", account: "board", role: "viewer" });

  const { agentId } = await agents.spawn("release-2.4", RELEASE, {
    labels: { release: "2.4" },
    expectedOutput: "A tagged release with notes",
    budget: { maxCostUsd: 5 },
    tasks: [
      { id: "plan", subject: "Collect what changed since 2.3" },
      { id: "notes", subject: "Write the release notes", blockedBy: ["plan"] },
      { id: "tag", subject: "Tag and announce", blockedBy: ["notes"] },
    ],
  });
  await agents.spawn(
    "nightly-audit",
    "@usage 5200 900 31000 0.18\n@sleep 1s\n@say No advisory concerns us today.",
  );
  await agents.queue("nightly-audit", "@say later", {
    deliverAt: new Date(Date.now() + 8 * 3_600_000).toISOString(),
  });
  // Rows for tomorrow: no process is started for them.
  const startAt = new Date(Date.now() + 14 * 3_600_000).toISOString();
  for (const name of ["migrate", "migrate/billing", "migrate/search", "migrate/mail", "backfill"])
    await agents.spawn(name, "Tomorrow.", { startAt });
  await agents.spawn("support-4711", "@usage 2100 350 8000 0.06\n@ask May I restart the customer's worker?");
  await agents.spawn("flaky-build", "@run exit 3\n@fail the build machine is gone");
  await agents.spawn(
    "weekly-report",
    "@usage 900 1200 300 0.05\n@complete All **green**: 412 tests, no open incident.",
  );
  await agents.wait("flaky-build");
  await agents.wait("weekly-report");
  await agents.until("release-2.4", "asks", ({ phase }) => phase === "PHASE_WAITING_FOR_INPUT");
  await agents.queue("release-2.4", NEXT);
  await agents.until(
    "release-2.4",
    "works",
    ({ turn }) => turn?.runId === "2" && turn.state === "TURN_STATE_RUNNING",
  );
  // Below an agent that is at work: what it asks waits in the queue.
  await agents.spawn("release-2.4/docs", DOCS);
  await agents.until("release-2.4/docs", "asks", ({ needsInput }) => needsInput !== "");
  await agents.queue("release-2.4", "Ask the docs team before you announce it.");
  await agents.queue("release-2.4", "Look whether the announcement went out.", {
    deliverAt: new Date(Date.now() + 2 * 3_600_000).toISOString(),
  });
  return {
    uid: agentId.uid,
    places: [
      { name: "agents", path: "/ui", shows: "release-2.4" },
      { name: "agent", path: `/ui/agents/${agentId.uid}`, shows: "Working on: Write the release notes" },
      { name: "inbox", path: "/ui/inbox", shows: "Which version do the docs call stable?" },
      { name: "spawn", path: "/ui/spawn", shows: "What is to be done" },
      { name: "catalog", path: "/ui/catalog/workspace", shows: "Handbook" },
      { name: "document", path: "/ui/catalog/persona/reviewer", shows: "say what is good, too" },
      { name: "keys", path: "/ui/keys", shows: "Status board" },
      { name: "audit", path: "/ui/audit", shows: "the writers asked" },
      { name: "pools", path: "/ui/pools", shows: "slots in use" },
    ],
  };
}

/** A page, and what can be read on it once it is there. */
export interface Place {
  readonly name: string;
  readonly path: string;
  readonly shows: string;
}

const PERSONA = {
  displayName: "Reviewer",
  description: "Reads changes before they land.",
  instructions: "Read the change as its next reader will.\nName the line and what would be better.",
  settings: { model: "script-a", reasoningEffort: "high" },
};
const MORE = "Say also what is good about it.";

const RELEASE = [
  "@usage 18400 2100 64000 0.42",
  "@say I collect what changed since 2.3.",
  "@task plan in_progress",
  "@run printf '%s\\n' 'fix: queue order after a restart' 'feat: share links' 'feat: whole trees in one list'",
  "@task plan completed",
  "@spawn tests | @usage 2400 300 9000 0.05 | @say Running the suite. | @run echo 412 tests passed | @sleep 1h",
  "@spawn lint | @usage 800 90 2000 0.01 | @run echo clean | @complete No findings.",
  "@await lint",
  "@say Three changes, one of them a **fix**; `lint` found nothing, the tests are running.",
  "@ask Shall the notes mention the queue fix first?",
].join("\n");

const DOCS = "@usage 3100 400 12000 0.07\n@ask Which version do the docs call stable?";

const NEXT = [
  "@usage 9200 1800 88000 0.31",
  "@say Yes: a fix that people waited for goes first.",
  "@task notes in_progress",
  "@sleep 1h",
].join("\n");
