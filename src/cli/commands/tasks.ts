import type { Command } from "commander";
import { type Task, TaskSchema, TaskStatus } from "../../../gen/retinue/v1/task_pb.js";
import { type AddressOptions, AGENT_ARGUMENT, addAddressOptions, agentIdOf } from "../agent-address.js";
import { act, addCommonOptions, type Cli, type CommonOptions } from "../cli.js";
import { jsonOf } from "../output.js";
import { type Column, tableLines } from "../table.js";
import { TASKS } from "../words.js";

type Options = CommonOptions & AddressOptions;

const STATUSES: Readonly<Record<string, TaskStatus>> = {
  pending: TaskStatus.PENDING,
  in_progress: TaskStatus.IN_PROGRESS,
  completed: TaskStatus.COMPLETED,
  deleted: TaskStatus.DELETED,
};

const COLUMNS: readonly Column[] = [
  { title: "" },
  { title: "ID" },
  { title: "STATUS" },
  { title: "AFTER" },
  { title: "SUBJECT" },
];

export function addTasks(program: Command): void {
  const tasks = program.command("tasks").description("the checklist of an agent");
  const sub = (name: string, isDefault = false) =>
    addAddressOptions(addCommonOptions(tasks.command(name, { isDefault }))).argument(
      "<agent>",
      AGENT_ARGUMENT,
    );

  const list = sub("ls", true)
    .description("list it (what `retinue tasks AGENT` does)")
    .option("-a, --all", "deleted tasks, too");
  act<Options & { all?: boolean }, [string]>(list, async (cli, options, path) => {
    const answer = await cli.server().tasks.listTasks({
      agentId: agentIdOf(path, options),
      includeDeleted: options.all ?? false,
    });
    showTasks(cli, answer.tasks);
  });

  const add = sub("add")
    .description("add a task to it")
    .argument("<subject...>", "what is to be done, in one line")
    .option("--id <id>", "ID of the task; the server mints one otherwise")
    .option("--description <text>", "anything more there is to say about it")
    .option("--after <ids>", "tasks that it waits for, separated by commas");
  act<Options & { id?: string; description?: string; after?: string }, [string, string[]]>(
    add,
    async (cli, options, path, words) => {
      const task = {
        id: options.id ?? "",
        subject: words.join(" "),
        description: options.description ?? "",
        blockedBy: options.after?.split(",") ?? [],
      };
      const answer = await cli
        .server()
        .tasks.createTasks({ agentId: agentIdOf(path, options), tasks: [task] });
      showTasks(cli, answer.tasks);
    },
  );

  const set = sub("set")
    .description("move a task")
    .argument("<id>", "ID of the task")
    .addArgument(tasks.createArgument("<status>", "what it is now").choices(Object.keys(STATUSES)));
  act<Options, [string, string, string]>(set, async (cli, options, path, id, status) => {
    const task = { id, status: STATUSES[status] as TaskStatus };
    const answer = await cli.server().tasks.updateTask({ agentId: agentIdOf(path, options), task });
    showTasks(cli, answer.task === undefined ? [] : [answer.task]);
  });
}

function showTasks(cli: Cli, tasks: readonly Task[]): void {
  cli.showJson(
    () => tasks.map((task) => jsonOf(TaskSchema, task)),
    () => {
      const { paint, live, columns } = cli.terminal;
      if (tasks.length === 0) return [paint("dim", "no tasks")];
      const rows = tasks.map((task) => {
        const { mark, word, colour } = TASKS[task.status];
        return [
          { text: mark, colour },
          { text: task.id },
          { text: task.active ? word : `${word}, inactive`, colour },
          { text: task.blockedBy.join(" ") },
          { text: task.subject },
        ];
      });
      return tableLines(COLUMNS, rows, paint, live ? columns() : Number.POSITIVE_INFINITY);
    },
  );
}
