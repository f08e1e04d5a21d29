import assert from "node:assert/strict";
import { test } from "node:test";
import { bwrapArguments, type View } from "../../src/runner/acp/bwrap-view.js";
import { forOptions, readConfigOptions } from "../../src/runner/acp/config-options.js";
import { createCostMeter } from "../../src/runner/acp/cost-meter.js";
import { createOutputGuard } from "../../src/runner/acp/output-guard.js";
import { createTail } from "../../src/runner/acp/tail.js";
import type { Limits } from "../../src/runner/runner.js";
import { parseDirectives } from "../../src/runner/scripted/directives.js";

/** [session so far, totals before the first prompt, totals after it, what they add]. */
const COSTS: readonly (readonly [name: string, number, number[], number[], number[]])[] = [
  ["a new session counts from 0", 0, [], [0.1, 0.4], [0.1, 0.3]],
  [
    "a total that goes down adds nothing, and the rest counts from there",
    0,
    [],
    [0.4, 0.3, 0.5],
    [0.4, 0, 0.2],
  ],
  ["a process that goes on counting", 1, [], [1.2], [0.2]],
  ["a process that begins again", 1, [], [0.2, 0.3], [0.2, 0.1]],
  ["a process that lost its last words", 1, [], [0.9, 1], [0, 0.1]],
  ["a total before the first prompt is where it stands", 1, [3], [3.5], [0.5]],
  ["no number adds nothing", 0, [], [Number.NaN, -1, 0.5], [0, 0, 0.5]],
];

for (const [name, soFar, before, after, added] of COSTS) {
  test(`cost: ${name}`, () => {
    const meter = createCostMeter();
    meter.resumeAt(soFar);
    for (const total of before) assert.equal(meter.read(total), 0);
    meter.prompted();
    for (const [index, total] of after.entries()) {
      assert.ok(Math.abs(meter.read(total) - (added[index] as number)) < 1e-9, `total ${total}`);
    }
  });
}

const LIMITS: Limits = { lineBytes: 20, outputBytes: 60, junkBytes: 30, startMs: 0, closeMs: 0, termMs: 0 };

test("guard: only lines that may be messages pass, however they are cut into chunks", () => {
  const text = 'hi\n{"a":1}\n\n  {"b":2}\nbye {}\n{"c":3}';
  for (const size of [1, 2, 3, 7, 100]) {
    const guard = createOutputGuard({ ...LIMITS, outputBytes: 1000 }, assert.fail);
    const passed: Buffer[] = [];
    for (let at = 0; at < text.length; at += size)
      passed.push(...guard.pass(Buffer.from(text.slice(at, at + size))));
    const lines = Buffer.concat(passed)
      .toString()
      .split("\n")
      .map((line) => line.trim());
    assert.deepEqual(lines, ['{"a":1}', '{"b":2}', '{"c":3}'], `in chunks of ${size}`);
    assert.equal(guard.junk(), "hi\nbye {}\n");
  }
});

const GUARDED: readonly (readonly [name: string, chunks: readonly string[], why: string | undefined])[] = [
  ["a long line", [`{${"x".repeat(20)}`], "a line of more than 20 bytes"],
  ["junk", ["junk junk\n", "junk junk\n", "junk junk\n", "j"], "more than 30 bytes that are no messages"],
  ["all of it", Array(6).fill('{"a":12345}\n'), "more than 60 bytes in one turn"],
  ["enough", Array(5).fill('{"a":12345}\n'), undefined],
];

for (const [name, chunks, why] of GUARDED) {
  test(`guard: ${name}`, () => {
    const told: string[] = [];
    const guard = createOutputGuard(LIMITS, (sentence) => told.push(sentence));
    for (const chunk of chunks) guard.pass(Buffer.from(chunk));
    if (why !== undefined) assert.deepEqual(guard.pass(Buffer.from("{}\n")), []);
    assert.deepEqual(told, why === undefined ? [] : [why]);
  });
}

test("guard: a new prompt begins the count again", () => {
  const guard = createOutputGuard(LIMITS, assert.fail);
  for (let turn = 0; turn < 5; turn++) {
    guard.reset();
    guard.count(50);
  }
});

test("tail: the last bytes are kept", () => {
  const tail = createTail(5);
  for (const word of ["one ", "two ", "three ", "four"]) tail.push(Buffer.from(word));
  assert.equal(tail.text(), " four");
});

const VIEW: View = { home: "/d/a/u/home", cwd: "/d/a/u/work", hidden: [], scratch: ["/tmp"], readable: [] };
const mountsOf = (view: Partial<View>) => {
  const args = bwrapArguments({ ...VIEW, ...view });
  return args.slice(args.indexOf("/proc") + 1, args.indexOf("--chdir")).join(" ");
};

const VIEWS: readonly (readonly [name: string, view: Partial<View>, mounts: string])[] = [
  [
    "own folders show through the hidden data folder",
    { hidden: [{ path: "/d", kind: "folder" }] },
    "--tmpfs /tmp --tmpfs /d --bind /d/a/u/home /d/a/u/home --bind /d/a/u/work /d/a/u/work --remount-ro /d",
  ],
  [
    "what is readable anyway needs no mount; below /tmp it does, and a data folder within it stays hidden",
    {
      hidden: [{ path: "/tmp/app/data", kind: "folder" }],
      readable: [
        { path: "/usr/bin", source: "/usr/bin" },
        { path: "/tmp/app", source: "/tmp/app" },
      ],
      home: "/tmp/app/data/h",
      cwd: "/tmp/app/data/w",
    },
    "--tmpfs /tmp --ro-bind /tmp/app /tmp/app --tmpfs /tmp/app/data --bind /tmp/app/data/h /tmp/app/data/h " +
      "--bind /tmp/app/data/w /tmp/app/data/w --remount-ro /tmp/app/data",
  ],
  [
    "a program below the data folder is shown; a hidden file is emptied",
    {
      hidden: [
        { path: "/d", kind: "folder" },
        { path: "/etc/key", kind: "file" },
      ],
      readable: [{ path: "/d/dist", source: "/d/dist" }],
    },
    "--tmpfs /tmp --tmpfs /d --ro-bind /d/dist /d/dist --ro-bind /dev/null /etc/key --bind /d/a/u/home /d/a/u/home " +
      "--bind /d/a/u/work /d/a/u/work --remount-ro /d",
  ],
];

for (const [name, view, mounts] of VIEWS) {
  test(`view: ${name}`, () => assert.equal(mountsOf(view), mounts));
}

test("settings: the tier fast is a fast mode where there are no tiers; flex is nothing of the kind", () => {
  const settings = { model: "", reasoningEffort: "", serviceTier: "fast", fastMode: false };
  const fast = readConfigOptions([
    { id: "fast-mode", type: "select", currentValue: "off" },
    { id: "broken" },
    7,
  ]);
  assert.deepEqual(forOptions(settings, fast), { ...settings, serviceTier: "", fastMode: true });
  assert.deepEqual(forOptions({ ...settings, serviceTier: "flex" }, fast), {
    ...settings,
    serviceTier: "flex",
  });
  assert.deepEqual(forOptions(settings, []), settings);
});

test("directives: one a line, known names only, in any indentation", () => {
  const text = "@say a | b\r\n\t@sleep 90ms\nsay @say x\n@sayx y\n@toString\n@say\n@spawn kid | one | | two";
  assert.deepEqual(parseDirectives(text), [
    { type: "say", text: "a | b" },
    { type: "sleep", milliseconds: 90 },
    { type: "say", text: "" },
    { type: "spawn", name: "kid", description: "one\n\ntwo" },
  ]);
});

test("directives: a doubled bar is one for the child's own script", () => {
  const spawn = "@spawn a | @spawn b || @spawn c |||| @complete | @message b || @say hi";
  const [a] = parseDirectives(spawn);
  const description = "@spawn b | @spawn c || @complete\n@message b | @say hi";
  assert.deepEqual(a, { type: "spawn", name: "a", description });
  assert.deepEqual(parseDirectives(description), [
    { type: "spawn", name: "b", description: "@spawn c | @complete" },
    { type: "message", name: "b", text: "@say hi" },
  ]);
});
