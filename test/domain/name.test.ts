import assert from "node:assert/strict";
import { test } from "node:test";
import { isName, nameViolation, quoted } from "../../src/domain/name.js";

const good = [
  ["a", "one letter"],
  ["7", "one digit"],
  ["main", "a word"],
  ["a.b_c-d", "dots, underscores and dashes in between"],
  ["a--b__c", "the same mark twice, unless it is a dot"],
  ["x.lock", "what git would not take as a ref is still a name"],
  ["a".repeat(63), "63 characters"],
] as const;

for (const [text, sentence] of good) {
  test(`a name may be: ${sentence}`, () => {
    assert.equal(isName(text), true);
    assert.equal(nameViolation("ref.name", text), undefined);
  });
}

const bad = [
  ["", "required", "empty"],
  ["a".repeat(64), "64 characters are too many", "64 characters"],
  ["a..b", "contains '..'", "two dots in a row"],
  ["..", "contains '..'", "the folder above"],
  ["Main", 'contains "M"', "a capital"],
  ["a b", 'contains " "', "a space"],
  ["a/b", 'contains "/"', "a slash"],
  ["main\n", 'contains "\\n"', "a line break at the end"],
  ["ä", 'contains "ä"', "a letter that is not ASCII"],
  ["😀", 'contains "😀"', "a character of two code units, shown whole"],
  ["-a", "begins or ends", "a dash first"],
  ["a.", "begins or ends", "a dot last"],
  ["_", "begins or ends", "only an underscore"],
] as const;

for (const [text, says, sentence] of bad) {
  test(`a name may not be: ${sentence}`, () => {
    const violation = nameViolation("ref.name", text);
    assert.equal(violation?.field, "ref.name");
    assert.ok(violation.description.includes(says), violation.description);
    assert.match(violation.description, /1 to 63 lower-case letters/);
  });
}

test("long text of a caller is cut where it is shown, between characters", () => {
  assert.equal(quoted("short"), '"short"');
  assert.equal(quoted("a".repeat(48)), `"${"a".repeat(48)}"`);
  assert.equal(quoted("a".repeat(1_000_000)), `"${"a".repeat(48)}…"`);
  assert.equal(quoted("😀".repeat(100)), `"${"😀".repeat(32)}…"`);
});
