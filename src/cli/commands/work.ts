import { writeFileSync } from "node:fs";
import type { Command } from "commander";
import {
  GetAgentBranchResponseSchema,
  GetAgentDiffResponseSchema,
} from "../../../gen/retinue/v1/work_service_pb.js";
import { type AddressOptions, AGENT_ARGUMENT, addAddressOptions, agentIdOf } from "../agent-address.js";
import { act, addCommonOptions, type CommonOptions } from "../cli.js";
import { clean } from "../text.js";

interface WorkOptions extends CommonOptions, AddressOptions {
  readonly repo?: string;
}

const DIFF_COLOURS = { "+": "green", "-": "red", "@": "cyan" } as const;

export function addWork(program: Command): void {
  const work = program.command("work").description("what an agent made");
  const sub = (name: string) =>
    addAddressOptions(addCommonOptions(work.command(name))).argument("<agent>", AGENT_ARGUMENT);
  const repoOption = ["--repo <name>", "repository of its workspace, where there are several"] as const;

  const diff = sub("diff")
    .description("show what it changed in a repository, uncommitted and new files included")
    .option(...repoOption);
  act<WorkOptions, [string]>(diff, async (cli, options, path) => {
    const answer = await cli
      .server()
      .work.getAgentDiff({ agentId: agentIdOf(path, options), repo: options.repo ?? "" });
    cli.show(GetAgentDiffResponseSchema, answer, () => {
      if (answer.truncated) cli.terminal.note("it is longer than servers send; the branch has it all");
      if (answer.diff === "") return [cli.terminal.paint("dim", "nothing was changed")];
      return clean(answer.diff)
        .trimEnd()
        .split("\n")
        .map((line) => cli.terminal.paint(DIFF_COLOURS[line[0] as keyof typeof DIFF_COLOURS], line));
    });
  });

  const branch = sub("branch")
    .description("fetch its branch as a git bundle")
    .argument("<file>", "file to write the bundle to")
    .option(...repoOption);
  act<WorkOptions, [string, string]>(branch, async (cli, options, path, file) => {
    const answer = await cli
      .server()
      .work.getAgentBranch({ agentId: agentIdOf(path, options), repo: options.repo ?? "" });
    writeFileSync(file, answer.bundle);
    cli.show(GetAgentBranchResponseSchema, answer, () => [
      `${answer.branch} at ${answer.headCommit.slice(0, 12)} written to ${file}`,
      `  → in your clone: git fetch ${file} ${answer.branch}`,
    ]);
  });

  const transcript = sub("transcript").description("print what was said and done, as Markdown");
  act<WorkOptions, [string]>(transcript, async (cli, options, path) => {
    const agentId = agentIdOf(path, options);
    let afterSeq = 0n;
    let text = "";
    for (;;) {
      const page = await cli.server().work.getAgentTranscript({ agentId, afterSeq });
      text += page.text;
      afterSeq = page.lastSeq;
      if (!page.hasMore) break;
    }
    cli.showJson(
      () => ({ text }),
      () => [clean(text).trimEnd()],
    );
  });
}
