import type { DescEnum, DescField, DescMessage } from "@bufbuild/protobuf";
import { InputFormat } from "../../gen/retinue/v1/catalog_pb.js";
import type { Kind } from "../../src/domain/catalog/kind.js";
import { EXAMPLES } from "./catalog-examples.js";
import { type Comments, readComments } from "./proto-comments.js";

/** The page of a kind, written out of its descriptor, its rules and an example that a test sends. */
export function catalogPage(kind: Kind, comments: Comments = readComments()): string {
  const desc = kind.schema as unknown as DescMessage;
  const below = nested(desc);
  const parts = [
    `# ${kind.name}`,
    comments
      .of(desc)
      .replace(/^Kind `[^`]*`: /, "")
      .replace(/^./, (first) => first.toUpperCase()),
    facts(kind),
    "## Fields",
    fieldTable(kind, desc, comments),
    ...below.messages.flatMap((message) => [
      `### ${message.name}`,
      comments.of(message),
      fieldTable(undefined, message, comments),
    ]),
    ...below.enums.flatMap((type) => [`### ${type.name}`, comments.of(type), valueTable(type, comments)]),
    ...example(kind),
    "## Errors",
    errors(kind),
  ];
  return `${parts.join("\n\n")}\n`;
}

function facts(kind: Kind): string {
  const builtins = [...kind.builtins.keys()].map((name) => `\`${name}\``).join(", ");
  return table(
    ["", ""],
    [
      ["read with", `\`${kind.readScope}\``],
      ["write with", kind.notWritable ? "not written directly" : `\`${kind.writeScope}\``],
      ["can be proposed", kind.proposable ? "yes, with `catalog:propose`" : "no"],
      ["builtins", builtins || "none"],
      [
        "input of the command line",
        InputFormat[kind.inputFormat] === "MARKDOWN" ? "Markdown with front matter" : "YAML",
      ],
    ],
  );
}

function fieldTable(kind: Kind | undefined, desc: DescMessage, comments: Comments): string {
  const set: readonly string[] = kind?.serverSet ?? [];
  const rows = desc.fields.map((field) => {
    const notes =
      set.includes(field.localName) && !comments.of(field).includes("Set by the server")
        ? `${comments.of(field)} Set by the server.`
        : comments.of(field);
    return [`\`${field.jsonName}\``, typeOf(field), notes];
  });
  return table(["field", "type", "notes"], rows);
}

function valueTable(type: DescEnum, comments: Comments): string {
  return table(
    ["value", "meaning"],
    comments.values(type).map(({ name, comment }) => [`\`${name}\``, comment]),
  );
}

function typeOf(field: DescField): string {
  switch (field.fieldKind) {
    case "list":
      return `list of ${field.message?.name ?? field.enum?.name ?? scalar(field)}`;
    case "map":
      return "map of strings";
    case "message":
      return field.message.typeName.startsWith("google.protobuf.")
        ? field.message.name.toLowerCase()
        : field.message.name;
    case "enum":
      return field.enum.name;
    default:
      return scalar(field);
  }
}

const SCALARS: Record<number, string> = {
  1: "number",
  3: "64-bit integer",
  5: "integer",
  8: "boolean",
  9: "string",
  12: "bytes",
};

function scalar(field: DescField): string {
  return SCALARS[field.scalar ?? 0] ?? "string";
}

/** Messages and enums of ours below a document, each once; `Meta` and agents' own are told elsewhere. */
function nested(desc: DescMessage) {
  const messages = new Set<DescMessage>();
  const enums = new Set<DescEnum>();
  const visit = (message: DescMessage) => {
    for (const { message: inner, enum: type } of message.fields) {
      if (type) enums.add(type);
      if (!inner?.typeName.startsWith("retinue.v1.") || inner.name === "AgentId" || messages.has(inner))
        continue;
      messages.add(inner);
      visit(inner);
    }
  };
  visit(desc);
  return { messages: [...messages], enums: [...enums] };
}

function example(kind: Kind): string[] {
  const shown = EXAMPLES[kind.name];
  if (shown === undefined) return [];
  return [
    "## Example",
    `\`${shown.name}.json\`:`,
    `\`\`\`json\n${JSON.stringify(shown.document, undefined, 2)}\n\`\`\``,
    [
      "```sh",
      'curl -sS -H "Authorization: Bearer $KEY" -H "content-type: application/json" \\',
      `  $RETINUE/v1/catalog/${kind.name}/${shown.name} -d "{\\"payload\\":\\"$(base64 -w0 ${shown.name}.json)\\"}"`,
      "```",
    ].join("\n"),
  ];
}

function errors(kind: Kind): string {
  if (kind.notWritable)
    return table(
      ["condition", "error"],
      [["any write or deletion", "FAILED_PRECONDITION `KIND_NOT_WRITABLE`"]],
    );
  const rows = [
    [
      "a field that the kind does not have, or one that breaks its rule",
      "INVALID_ARGUMENT `INVALID_FIELD`, with the path",
    ],
    [
      "`ifGenerationMatch` is not the current generation",
      "FAILED_PRECONDITION `GENERATION_MISMATCH`, nothing written",
    ],
    ["patch, read or deletion of what is not there", "NOT_FOUND `RESOURCE_NOT_FOUND`"],
    ["the key lacks the scope", "PERMISSION_DENIED"],
  ];
  if (kind.references)
    rows.push(["it names a document that is not there", "FAILED_PRECONDITION `REFERENCE_NOT_FOUND`"]);
  rows.push(["deletion of what other documents name", "FAILED_PRECONDITION `REFERENCED`, with their list"]);
  if (kind.builtins.size > 0)
    rows.push(["deletion of a builtin that nobody has written over", "FAILED_PRECONDITION `BUILTIN`"]);
  return table(["condition", "error"], rows);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
