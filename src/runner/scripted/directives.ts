/** What a line of a caller's text asks of the script. */
export type Directive =
  | { readonly type: "say"; readonly text: string }
  | { readonly type: "sleep"; readonly milliseconds: number }
  | { readonly type: "ask"; readonly question: string }
  | { readonly type: "complete"; readonly result: string }
  | { readonly type: "output"; readonly output: unknown }
  | { readonly type: "fail"; readonly message: string }
  | { readonly type: "crash" }
  | { readonly type: "hang" }
  | { readonly type: "task"; readonly id: string; readonly status: string }
  | { readonly type: "addtask"; readonly id: string; readonly subject: string }
  | { readonly type: "spawn"; readonly name: string; readonly description: string }
  | { readonly type: "await"; readonly name: string }
  | { readonly type: "message"; readonly name: string; readonly text: string }
  | { readonly type: "children" }
  | { readonly type: "run"; readonly command: string }
  | {
      readonly type: "usage";
      readonly input: number;
      readonly output: number;
      readonly cached: number;
      readonly cost: number;
    }
  | { readonly type: "ignore" }
  /** A directive that cannot be followed; said, and the script goes on. */
  | { readonly type: "unclear"; readonly why: string };

type Reader = (rest: string) => Directive;

const LINE = /^\s*@([A-Za-z]+)(?:\s+(.*?))?\s*$/;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

const READERS: Readonly<Record<string, Reader>> = {
  say: (text) => ({ type: "say", text }),
  sleep(rest) {
    const [, amount, unit] = /^([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)$/.exec(rest) ?? [];
    if (amount === undefined || unit === undefined) return unclear("@sleep needs a duration such as 1.5s");
    return { type: "sleep", milliseconds: Number(amount) * (UNITS[unit] as number) };
  },
  ask: (question) => ({ type: "ask", question }),
  complete: (result) => ({ type: "complete", result }),
  output(rest) {
    try {
      return { type: "output", output: JSON.parse(rest) };
    } catch (error) {
      return unclear(`@output needs JSON: ${error instanceof Error ? error.message : error}`);
    }
  },
  fail: (message) => ({ type: "fail", message }),
  crash: () => ({ type: "crash" }),
  hang: () => ({ type: "hang" }),
  task(rest) {
    const [id, status, ...more] = rest.split(/\s+/);
    if (!id || !status || more.length > 0) return unclear("@task needs an ID and a status");
    return { type: "task", id, status: status.toLowerCase() };
  },
  addtask(rest) {
    const [, id, subject] = /^(\S+)\s+(.+)$/.exec(rest) ?? [];
    if (id === undefined || subject === undefined) return unclear("@addtask needs an ID and a subject");
    return { type: "addtask", id, subject };
  },
  spawn(rest) {
    const named = nameAndText(rest);
    if (named === undefined) return unclear("@spawn needs NAME | text");
    return { type: "spawn", name: named.name, description: named.text };
  },
  message(rest) {
    const named = nameAndText(rest);
    return named === undefined ? unclear("@message needs NAME | text") : { type: "message", ...named };
  },
  children: () => ({ type: "children" }),
  await: (name) => (name === "" ? unclear("@await needs a NAME") : { type: "await", name }),
  run: (command) => (command === "" ? unclear("@run needs a command") : { type: "run", command }),
  usage(rest) {
    const [input, output, cached, cost] = rest.split(/\s+/).map(Number);
    const counts = [input, output, cached];
    if (!counts.every((count) => Number.isSafeInteger(count) && Number(count) >= 0) || !(Number(cost) >= 0)) {
      return unclear("@usage needs INPUT OUTPUT CACHED COST, none negative");
    }
    return {
      type: "usage",
      input: Number(input),
      output: Number(output),
      cached: Number(cached),
      cost: Number(cost),
    };
  },
  ignore: () => ({ type: "ignore" }),
};

/** The directives of a text, in order; other lines mean nothing. Empty: there is none. */
export function parseDirectives(text: string): Directive[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [, name, rest] = LINE.exec(line) ?? [];
    const read = name === undefined || !Object.hasOwn(READERS, name) ? undefined : READERS[name];
    return read === undefined ? [] : [read(rest ?? "")];
  });
}

/** Whether the script is over with this one. */
export function endsScript({ type }: Directive): boolean {
  return type === "ask" || type === "complete" || type === "fail" || type === "crash" || type === "hang";
}

/** `NAME | text | more text`: each `|` is a line. Doubled it stays one, for the script of a child of that child. */
function nameAndText(rest: string): { name: string; text: string } | undefined {
  const [name, ...lines] = rest
    .split(/(?<!\|)\|(?!\|)/)
    .map((part) => part.replace(/\|{2,}/g, (bars) => "|".repeat(bars.length / 2)).trim());
  return name && lines.length > 0 ? { name, text: lines.join("\n") } : undefined;
}

function unclear(why: string): Directive {
  return { type: "unclear", why };
}
