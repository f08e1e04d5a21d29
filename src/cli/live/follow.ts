import type { AgentId } from "../../../gen/retinue/v1/agent_id_pb.js";
import { GetAgentStatusResponseSchema } from "../../../gen/retinue/v1/agent_service_pb.js";
import { EventSchema } from "../../../gen/retinue/v1/event_pb.js";
import { pathOf } from "../agent-address.js";
import type { Cli } from "../cli.js";
import { goesOn, leavable } from "../interrupt.js";
import { outcomeCode, outcomeLines } from "../outcome.js";
import { jsonOf } from "../output.js";
import { type AgentView, update, viewOf } from "./agent-view.js";
import { openCanvas } from "./canvas.js";
import { eventLines } from "./event-line.js";
import { treeLines } from "./tree-lines.js";
import { type TreeWatch, watchTree } from "./watch-tree.js";

type Shown = Pick<TreeWatch, "onUpdate" | "onLost" | "spawnedFromStart"> & { close(): void };

export interface Followed {
  readonly agentId: AgentId;
  /** It was spawned just now: where events are shown, all of them are. */
  readonly fresh?: boolean;
  /** Asked when it rests or has ended; true, which is the default: that is enough. */
  readonly isOver?: () => boolean;
  /** A line below the tree. */
  readonly caption?: () => string;
}

const FRAME_MS = 120;

/** Shows an agent and all below it until it has ended or wants input, tells what came of it and exits accordingly. */
export async function followAgent(
  cli: Cli,
  { agentId, fresh = false, isOver = () => true, caption = () => "" }: Followed,
): Promise<void> {
  const server = cli.server();
  const path = pathOf(agentId);
  await leavable(
    async (signal) => {
      const shown = show(cli, caption);
      try {
        await watchTree(server, agentId, {
          ...shown,
          signal,
          isOver,
          fromStart: fresh && shown.spawnedFromStart,
        });
      } finally {
        shown.close();
      }
    },
    () => goesOn(path),
  );
  const answer = await server.agents.getAgentStatus({ agentId });
  const { status } = answer;
  if (status === undefined) throw new Error("the server answered without a status");
  if (cli.format === "table")
    for (const line of outcomeLines(status, cli.terminal.paint)) cli.terminal.print(line);
  else cli.terminal.print(JSON.stringify(jsonOf(GetAgentStatusResponseSchema, answer)));
  cli.exit(outcomeCode(status));
}

/** In place on a terminal; plain lines, one event each, for whatever else reads. */
function show(cli: Cli, caption: () => string): Shown {
  if (cli.format !== "table") return showJsonLines(cli);
  return cli.terminal.live ? showTree(cli, caption) : showLines(cli);
}

function showTree({ terminal }: Cli, caption: () => string): Shown {
  const views = new Map<string, AgentView>();
  const canvas = openCanvas(terminal);
  let frame = 0;
  let lost = false;
  const draw = () => {
    const { paint } = terminal;
    const lines = treeLines([...views.values()], {
      paint,
      columns: terminal.columns(),
      nowMs: Date.now(),
      frame,
    });
    const below = lost ? paint("yellow", "connection lost; trying again …") : paint("dim", caption());
    canvas.draw(below === "" ? lines : [...lines, below]);
    frame += 1;
  };
  const timer = setInterval(draw, FRAME_MS);
  return {
    spawnedFromStart: false,
    onUpdate(id, response) {
      const view = views.get(id.uid) ?? viewOf(id, Date.now());
      views.set(id.uid, update(view, response));
    },
    onLost(now) {
      lost = now;
    },
    close() {
      clearInterval(timer);
      draw();
      canvas.close();
    },
  };
}

function showLines({ terminal }: Cli): Shown {
  let width = 0;
  const seen = new Set<string>();
  return {
    spawnedFromStart: true,
    onUpdate(id, { update }) {
      const first = !seen.has(id.uid);
      seen.add(id.uid);
      width = Math.max(width, pathOf(id).length);
      if (update.case === "event") {
        for (const line of eventLines(update.value, terminal.paint, width)) terminal.print(line);
      } else if (update.case === "snapshot" && first) {
        for (const line of outcomeLines(update.value, terminal.paint)) terminal.print(line);
      }
    },
    onLost(lost) {
      if (lost) terminal.note("connection lost; trying again …");
    },
    close() {},
  };
}

function showJsonLines({ terminal }: Cli): Shown {
  return {
    spawnedFromStart: true,
    onUpdate(_id, { update }) {
      if (update.case === "event") terminal.print(JSON.stringify(jsonOf(EventSchema, update.value)));
    },
    onLost() {},
    close() {},
  };
}
