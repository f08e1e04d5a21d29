import { readFileSync } from "node:fs";
import { createFileRegistry, type DescMethod, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

/** Every RPC of the service, from the descriptors that it hands out: a new one is there by itself. */
export function everyMethod(): DescMethod[] {
  const bytes = readFileSync(new URL("../../gen/descriptor.binpb", import.meta.url));
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
  return [...registry]
    .filter((desc) => desc.kind === "service")
    .filter(({ typeName }) => typeName.startsWith("retinue.v1."))
    .flatMap(({ methods }) => methods);
}

/** `AgentService/KillAgent`. */
export const actionOf = (method: DescMethod): string => `${method.parent.name}/${method.name}`;
