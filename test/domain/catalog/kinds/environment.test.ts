import { environment } from "../../../../src/domain/catalog/kinds/environment.js";
import { type BadRow, describedRows, type GoodRow, testRows } from "./violation-rows.js";

const described = describedRows({});
const variable = (fields: object) => ({ variables: [{ name: "A", value: "x", ...fields }] });
const command = (fields: object) => ({ setupCommands: [{ run: "make", ...fields }] });

const good: GoodRow[] = [
  ...described.good,
  ["may be empty", {}],
  ["takes a value", variable({})],
  ["takes an empty value", variable({ value: "" })],
  ["takes a value of several lines", variable({ value: "a\nb" })],
  ["takes a secret", { variables: [{ name: "A", secret: "deploy-key" }] }],
  ["takes lower case and underscores", variable({ name: "_a9" })],
  [
    "takes names that differ in case",
    {
      variables: [
        { name: "A", value: "" },
        { name: "a", value: "" },
      ],
    },
  ],
  ["takes a name that only looks like the service's", variable({ name: "RETINUE" })],
  ["takes a command", command({})],
  ["takes a command of several lines, with a name", command({ name: "Build", run: "make\nmake test" })],
  ["takes the same command twice", { setupCommands: [{ run: "a" }, { run: "a" }] }],
  ["takes an hour", command({ timeout: "3600s" })],
  ["takes a moment", command({ timeout: "0.000000001s" })],
];

const bad: BadRow[] = [
  ...described.bad,
  ["refuses a variable without a name", variable({ name: "" }), "variables[0].name", "no variable name"],
  ["refuses a digit first", variable({ name: "9A" }), "variables[0].name", "no digit first"],
  ["refuses a dash", variable({ name: "A-B" }), "variables[0].name", "letters, digits and '_'"],
  ["refuses an equals sign", variable({ name: "A=B" }), "variables[0].name", "letters, digits and '_'"],
  ["refuses a line break", variable({ name: "A\n" }), "variables[0].name", "letters, digits and '_'"],
  ["refuses the service's own", variable({ name: "RETINUE_KEY" }), "variables[0].name", "RETINUE_"],
  ["refuses an endless name", variable({ name: "A".repeat(129) }), "variables[0].name", "at most 128"],
  [
    "refuses a name twice",
    {
      variables: [
        { name: "A", value: "" },
        { name: "A", secret: "s" },
      ],
    },
    "variables[1].name",
    "already at variables[0].name",
  ],
  [
    "refuses a variable without a source",
    { variables: [{ name: "A" }] },
    "variables[0]",
    "exactly one of value and secret",
  ],
  ["refuses a variable with two sources", variable({ secret: "s" }), "variables[0].secret", "value"],
  ["refuses a secret by no name", { variables: [{ name: "A", secret: "S" }] }, "variables[0].secret", '"S"'],
  ["refuses an empty secret", { variables: [{ name: "A", secret: "" }] }, "variables[0].secret", "required"],
  ["refuses NUL in a value", variable({ value: "a\0b" }), "variables[0].value", "U+0000"],
  [
    "refuses an endless value",
    variable({ value: "x".repeat(65537) }),
    "variables[0].value",
    "at most 64 KiB",
  ],
  ["refuses a command that is none", command({ run: "" }), "setupCommands[0].run", "required"],
  ["refuses a command of spaces", command({ run: " \n" }), "setupCommands[0].run", "required"],
  ["refuses NUL in a command", command({ run: "a\0b" }), "setupCommands[0].run", "U+0000"],
  [
    "refuses an endless command",
    command({ run: "x".repeat(65537) }),
    "setupCommands[0].run",
    "at most 64 KiB",
  ],
  ["refuses a name of two lines", command({ name: "a\nb" }), "setupCommands[0].name", "one line"],
  ["refuses no time at all", command({ timeout: "0s" }), "setupCommands[0].timeout", 'more than "0s"'],
  ["refuses less than no time", command({ timeout: "-1s" }), "setupCommands[0].timeout", 'more than "0s"'],
  [
    "refuses more than an hour",
    command({ timeout: "3600.000000001s" }),
    "setupCommands[0].timeout",
    "at most an hour",
  ],
];

testRows(environment, good, bad);
