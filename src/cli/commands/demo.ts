import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Command } from "commander";
import { type AgentId, AgentIdSchema } from "../../../gen/retinue/v1/agent_id_pb.js";
import { pathOf } from "../agent-address.js";
import { documentOf, payloadOf } from "../catalog/reference.js";
import { act, addCommonOptions, type Cli, type CommonOptions } from "../cli.js";
import { readContexts } from "../contexts.js";
import { type OwnServer, startOwnServer } from "../demo/own-server.js";
import { SHOP } from "../demo/script.js";
import { CliError, EXIT } from "../exit.js";
import { followAgent } from "../live/follow.js";
import { jsonOf } from "../output.js";
import { openServer, type Server } from "../server.js";
import { resolveTarget } from "../target.js";

const ANSWER_AFTER_MS = 3000;
const WAKE_AFTER_MS = 9000;
const DAY_MS = 86_400_000;

export function addDemo(program: Command): void {
  const command = addCommonOptions(program.command("demo")).description(
    "see it all at once: agents that work, ask, sleep and wake; on your server, or on one of its own",
  );
  act<CommonOptions>(command, async (cli, options) => {
    const found = await findServer(cli, options);
    if (found !== undefined) return show(cli, found);
    const own = await startOwnServer();
    try {
      cli.terminal.note(`no server here: started one for the demo at ${own.url}`);
      await show({ ...cli, server: () => openServer(own) }, openServer(own));
      await linger(cli, own);
    } catch (error) {
      // Elsewhere agents go on when nobody looks; here their server goes with the one who looked.
      if (!(error instanceof CliError) || error.exitCode !== EXIT.interrupted) throw error;
      throw new CliError("left the demo; its server and its agents are gone", EXIT.interrupted);
    } finally {
      await own.stop();
    }
  });
}

/** The server of any other command; undefined when nobody chose one and none runs on this machine. */
async function findServer(cli: Cli, options: CommonOptions): Promise<Server | undefined> {
  const { url, key, context } = cli.environment;
  const chosen = options.context ?? url ?? key ?? context ?? readContexts(cli.environment).current;
  if (chosen !== undefined) return cli.server();
  try {
    const server = openServer(resolveTarget(cli.environment, undefined));
    await server.identity.whoami({}, { timeoutMs: 2000 });
    return cli.server();
  } catch {
    return undefined;
  }
}

async function show(cli: Cli, server: Server): Promise<void> {
  const name = `demo-${new Date().toISOString().slice(11, 19).replaceAll(":", "")}`;
  const { agentId, dashboardUrl } = await server.agents.spawnAgent({
    agentId: { agent: [name] },
    description: SHOP.description,
    tasks: SHOP.tasks.map((task) => ({ ...task, blockedBy: "blockedBy" in task ? [...task.blockedBy] : [] })),
    labels: { demo: "bakery" },
  });
  if (agentId === undefined) throw new Error("the server answered a spawn without an agent");
  cli.terminal.note(`on the page: ${dashboardUrl}`);
  cli.terminal.note(`without a key: ${await shareLink(server, agentId)}`);
  cli.terminal.note("");
  let answering: Promise<void> | undefined;
  await followAgent(cli, {
    agentId,
    fresh: true,
    caption: () => (answering === undefined ? "" : "the demo answers its question with: blue"),
    isOver() {
      if (answering !== undefined) return true;
      answering = answer(server, agentId);
      answering.catch((error: Error) => cli.terminal.note(`the demo could not answer: ${error.message}`));
      return false;
    },
  });
  await answering;
  cli.terminal.note("");
  cli.terminal.note(`what happened, line by line: retinue logs ${pathOf(agentId)}`);
}

/** A question is answered after a while, as people do, and there is more to come later. */
async function answer(server: Server, agentId: AgentId): Promise<void> {
  await sleep(ANSWER_AFTER_MS);
  const deliverAt = timestampFromMs(Date.now() + WAKE_AFTER_MS);
  await server.agents.queueFollowUp({ agentId, description: SHOP.later, deliverAt });
  await server.agents.queueFollowUp({ agentId, description: SHOP.answer });
}

/** A page that everybody with its address can read for a day. */
async function shareLink(server: Server, agentId: AgentId): Promise<string> {
  const document = {
    displayName: "Demo",
    agentId: jsonOf(AgentIdSchema, agentId),
    access: "SHARE_ACCESS_TIMELINE",
    includeDescendants: true,
    expiresAt: new Date(Date.now() + DAY_MS).toISOString(),
  };
  const ref = { kind: "share-link", name: pathOf(agentId) };
  const { payload } = await server.catalog.putResource({ ref, payload: payloadOf(document) });
  return String(documentOf(payload).url);
}

/** The page is worth a look after the show; nobody looks at one from a pipe. */
async function linger({ terminal }: Cli, { keyFile }: OwnServer): Promise<void> {
  if (!terminal.interactive) return;
  terminal.note(`the key for the page is in ${keyFile}; Ctrl-C ends the demo and its server`);
  const stay = setInterval(() => {}, DAY_MS);
  await once(process, "SIGINT");
  clearInterval(stay);
}
