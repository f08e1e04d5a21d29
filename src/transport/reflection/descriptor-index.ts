import type { DescEnum, DescExtension, DescFile, DescMessage } from "@bufbuild/protobuf";

/** Finds files by what they declare. Names are full, without a leading dot. */
export interface DescriptorIndex {
  readonly files: ReadonlyMap<string, DescFile>;
  /** Of services, methods, messages, fields, oneofs, enums, enum values and extensions. */
  readonly symbols: ReadonlyMap<string, DescFile>;
  /** Every message type, with the extensions of it by number. */
  readonly extensions: ReadonlyMap<string, ReadonlyMap<number, DescFile>>;
}

/** Indexes these files and all they depend on. */
export function createDescriptorIndex(roots: Iterable<DescFile>): DescriptorIndex {
  const files = new Map<string, DescFile>();
  const symbols = new Map<string, DescFile>();
  const extensions = new Map<string, Map<number, DescFile>>();

  function addMessage(message: DescMessage): void {
    const { file, typeName } = message;
    symbols.set(typeName, file);
    extensionsOf(typeName);
    for (const member of [...message.fields, ...message.oneofs])
      symbols.set(`${typeName}.${member.name}`, file);
    for (const nested of message.nestedMessages) addMessage(nested);
    for (const nested of message.nestedEnums) addEnum(nested);
    for (const nested of message.nestedExtensions) addExtension(nested);
  }

  function addEnum({ file, typeName, name, values }: DescEnum): void {
    symbols.set(typeName, file);
    // As in C++, values are siblings of their enum, not members.
    const scope = typeName.slice(0, -name.length);
    for (const value of values) symbols.set(`${scope}${value.name}`, file);
  }

  function addExtension({ file, typeName, extendee, number }: DescExtension): void {
    symbols.set(typeName, file);
    extensionsOf(extendee.typeName).set(number, file);
  }

  function extensionsOf(typeName: string): Map<number, DescFile> {
    const known = extensions.get(typeName) ?? new Map<number, DescFile>();
    extensions.set(typeName, known);
    return known;
  }

  for (const file of withDependencies(roots)) {
    files.set(file.proto.name, file);
    for (const message of file.messages) addMessage(message);
    for (const desc of file.enums) addEnum(desc);
    for (const extension of file.extensions) addExtension(extension);
    for (const service of file.services) {
      symbols.set(service.typeName, file);
      for (const method of service.methods) symbols.set(`${service.typeName}.${method.name}`, file);
    }
  }
  return { files, symbols, extensions };
}

/** The files in their order, then what they need, each once. */
export function withDependencies(roots: Iterable<DescFile>): ReadonlySet<DescFile> {
  const found = new Set(roots);
  // A set goes on to what is added to it meanwhile.
  for (const file of found) for (const dependency of file.dependencies) found.add(dependency);
  return found;
}
