import assert from "node:assert/strict";
import { test } from "node:test";
import { allows, fingerprintOf, grants, permissionViolation } from "../../../src/domain/agent/permission.js";

const bash = (command: string) => ({ tool: "Bash", kind: "execute", input: { command } });
const edit = (...paths: string[]) => ({
  tool: "apply_patch",
  kind: "edit",
  input: { changes: paths.map((path) => ({ path })) },
});

const rows: [string, string[], Parameters<typeof allows>[1], boolean][] = [
  ["nothing is allowed by itself", [], bash("ls"), false],
  ["a tool by its name", ["Bash"], bash("ls"), true],
  ["a tool by its kind", ["execute"], bash("ls"), true],
  ["another tool is not", ["Edit", "edit"], bash("ls"), false],
  ["a part of a name is no name", ["Bas"], bash("ls"), false],
  ["* allows everything", ["*"], { tool: "", kind: "other", input: undefined }, true],
  ["a star within a name", ["mcp__github__*"], { tool: "mcp__github__list", kind: "other", input: {} }, true],
  ["a command, whole", ["Bash(npm test)"], bash("npm test"), true],
  ["a longer command is another", ["Bash(npm test)"], bash("npm test --all"), false],
  ["a command with a star", ["Bash(npm *)"], bash("npm test"), true],
  ["a star takes no second command along", ["Bash(npm *)"], bash("npm test; rm -rf /"), false],
  ["nor one in a substitution", ["Bash(npm *)"], bash("npm $(rm -rf /)"), false],
  ["nor one on a line of its own", ["Bash(npm *)"], bash("npm test\nrm -rf /"), false],
  ["only * stands for any command", ["Bash(*)"], bash("a; b"), true],
  ["stars in the middle, in order", ["Bash(a*b*c)"], bash("a1b2c"), true],
  ["stars that overlap do not count twice", ["Bash(ab*ba)"], bash("aba"), false],
  ["a path", ["edit(/repo/*)"], edit("/repo/a"), true],
  ["every path of a change has to fit", ["edit(/repo/*)"], edit("/repo/a", "/etc/passwd"), false],
  ["an input that is not there fits nothing", ["edit(/repo/*)"], edit(), false],
];

for (const [name, entries, use, expected] of rows) {
  test(`allow list: ${name}`, () => assert.equal(allows(entries, use), expected));
}

test("entries are a name, or a name with an input", () => {
  for (const entry of ["Bash", "*", "mcp__a__*", "Bash(npm test)", "edit(/a b/(c))"])
    assert.equal(permissionViolation(entry), undefined, entry);
  for (const entry of ["", "a b", "Bash(", "Bash()", "(x)"]) assert.ok(permissionViolation(entry), entry);
});

test("what is granted is one tool with one input, in whatever order its members come", () => {
  const asked = { tool: "Bash", kind: "execute", input: { command: "x", cwd: "/" } };
  const again = { tool: "Bash", kind: "execute", input: { cwd: "/", command: "x" } };
  assert.equal(fingerprintOf(asked), fingerprintOf(again));
  assert.notEqual(fingerprintOf(asked), fingerprintOf({ ...asked, input: { command: "y", cwd: "/" } }));
  assert.notEqual(fingerprintOf(asked), fingerprintOf({ ...asked, tool: "Edit" }));
});

test("a message grants when it begins with allow", () => {
  for (const yes of ["allow", " Allow, go on", "ALLOW\nplease"]) assert.ok(grants(yes), yes);
  for (const no of ["no", "do not allow", "allowed?", ""]) assert.ok(!grants(no), no);
});
