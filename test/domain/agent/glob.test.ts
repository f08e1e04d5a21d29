import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { compile, matchesAny, patternViolation } from "../../../src/domain/agent/glob.js";

const ROWS: [pattern: string, path: string, matches: boolean][] = [
  ["", "anything/at/all", true],
  ["a.ts", "a.ts", true],
  ["a.ts", "b/a.ts", false],
  ["*.ts", "a.ts", true],
  ["*.ts", "src/a.ts", false],
  ["*", "", true],
  ["*", ".hidden", true],
  ["src/*", "src/a", true],
  ["src/*", "src/a/b", false],
  ["**", "a/b/c", true],
  ["**/*.ts", "a.ts", true],
  ["**/*.ts", "x/y/a.ts", true],
  ["src/**", "src/a/b", true],
  ["src/**", "srcs/a", false],
  ["src/**/a.ts", "src/a.ts", true],
  ["src/**/a.ts", "src/x/y/a.ts", true],
  ["src/**/a.ts", "src/x/b.ts", false],
  ["a**b", "axxb", true],
  ["a**b", "ax/xb", false],
  ["?", "a", true],
  ["?", "/", false],
  ["?", "😀", true],
  ["[abc].ts", "b.ts", true],
  ["[a-c].ts", "d.ts", false],
  ["[!a-c].ts", "d.ts", true],
  ["[^a-c].ts", "a.ts", false],
  ["[!a]", "/", false],
  ["[]]", "]", true],
  ["[a-]", "-", true],
  ["*.{ts,js}", "a.js", true],
  ["*.{ts,js}", "a.css", false],
  ["{src,test}/**", "test/a/b", true],
  ["{a,{b,c}d}e", "cde", true],
  ["{a,}b", "b", true],
  ["{**/x,y}", "q/x", true],
  ["a,b", "a,b", true],
  ["a}", "a}", true],
  ["\\*", "*", true],
  ["\\*", "a", false],
  ["A", "a", false],
];

describe("globs of filesModified", () => {
  for (const [pattern, path, expected] of ROWS) {
    it(`${JSON.stringify(pattern)} ${expected ? "matches" : "does not match"} ${JSON.stringify(path)}`, () => {
      assert.equal(matchesAny(pattern, [path]), expected);
    });
  }
  const broken: [string, RegExp][] = [
    ["{a", /without its '}'/],
    ["[a", /without its ']'/],
    ["[]", /without its ']'/],
    ["a\\", /escapes nothing/],
    ["x".repeat(257), /longer than 256/],
  ];
  for (const [pattern, why] of broken) {
    it(`${JSON.stringify(pattern.slice(0, 8))} is refused`, () =>
      assert.match(patternViolation(pattern) ?? "", why));
  }
  it("an empty pattern needs a file", () => assert.equal(matchesAny("", []), false));

  it("no pattern takes long, however nasty", () => {
    const nasty = [
      "*a".repeat(127),
      "{a,b}".repeat(50),
      "**/".repeat(80),
      `${"{".repeat(120)}a${",b}".repeat(40)}${"}".repeat(10)}`,
    ];
    const path = `${"a".repeat(2000)}!`;
    for (const pattern of nasty) {
      // CPU time, because the machine may be busy with other things.
      const before = process.cpuUsage();
      matchesAny(pattern, [path]);
      assert.ok(process.cpuUsage(before).user < 2_000_000, pattern);
    }
  });

  it("agrees with a regular expression where one is easy to write", () => {
    const piece = fc.constantFrom("a", "b", "/", "*", "?", "[ab]", "{a,b}");
    const pattern = fc
      .array(piece, { maxLength: 8 })
      .map((p) => p.join(""))
      .filter((p) => p !== "" && !p.includes("**"));
    const path = fc.array(fc.constantFrom("a", "b", "c", "/"), { maxLength: 8 }).map((p) => p.join(""));
    fc.assert(
      fc.property(pattern, path, (p, f) => {
        const regex = p.replaceAll("?", "[^/]").replaceAll("*", "[^/]*").replaceAll("{a,b}", "(?:a|b)");
        assert.equal(typeof compile(p), "object");
        assert.equal(matchesAny(p, [f]), new RegExp(`^${regex}$`).test(f));
      }),
      { numRuns: 2000 },
    );
  });
});
