import { readFileSync } from "node:fs";
import { type DescEnum, type DescField, type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

/** What the protos say about a message, a field or an enum, in one line. */
export interface Comments {
  of(desc: DescMessage | DescField | DescEnum): string;
  /** Names of an enum's values with what they mean, the unset one left out. */
  values(desc: DescEnum): { readonly name: string; readonly comment: string }[];
}

const MESSAGES = 4;
const ENUMS = 5;
/** Of fields in a message, and of values in an enum. */
const MEMBERS = 2;

/** Read from the descriptor set that the server hands out, which is the one place that has them at run time. */
export function readComments(): Comments {
  const bytes = readFileSync(new URL("../../gen/descriptor.binpb", import.meta.url));
  const files = fromBinary(FileDescriptorSetSchema, bytes).file;
  const texts = new Map(files.flatMap((file) => commentsOf(file)));
  const at = (name: string) => texts.get(name) ?? "";
  return {
    of: (desc) => at(desc.kind === "field" ? `${desc.parent.typeName}.${desc.name}` : desc.typeName),
    values: (desc) =>
      desc.values
        .filter(({ number }) => number !== 0)
        .map(({ name }) => ({ name, comment: at(`${desc.typeName}.${name}`) })),
  };
}

function commentsOf(file: FileDescriptorProto): [string, string][] {
  const byPath = new Map(
    (file.sourceCodeInfo?.location ?? []).map(({ path, leadingComments }) => [
      path.join("."),
      leadingComments,
    ]),
  );
  const text = (...path: number[]) => (byPath.get(path.join(".")) ?? "").trim().replace(/\s+/g, " ");
  const group = (kind: number, types: { name: string; members: { name: string }[] }[]) =>
    types.flatMap(({ name, members }, i): [string, string][] => [
      [`${file.package}.${name}`, text(kind, i)],
      ...members.map((member, j): [string, string] => [
        `${file.package}.${name}.${member.name}`,
        text(kind, i, MEMBERS, j),
      ]),
    ]);
  return [
    ...group(
      MESSAGES,
      file.messageType.map(({ name, field }) => ({ name, members: field })),
    ),
    ...group(
      ENUMS,
      file.enumType.map(({ name, value }) => ({ name, members: value })),
    ),
  ];
}
