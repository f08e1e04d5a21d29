import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Command } from "commander";
import type { GetResourceResponse } from "../../../gen/retinue/v1/catalog_service_pb.js";
import { tenantOf } from "../agent-address.js";
import { usageError } from "../exit.js";
import type { Server } from "../server.js";

export interface Reference {
  readonly kind: string;
  readonly name: string;
  readonly tenant?: { readonly provider: number; readonly org: string };
}

export interface TenantOptions {
  readonly tenant?: string;
}

export function addReference(command: Command): Command {
  return command
    .argument("<kind>", "kind, or KIND/NAME")
    .argument("[name]", "name within the kind")
    .option("--tenant <tenant>", "organisation: PROVIDER/ORG");
}

/** `KIND NAME` or `KIND/NAME`. */
export function referenceOf(kind: string, name: string | undefined, options: TenantOptions): Reference {
  const [first = "", second] = kind.split("/", 2);
  if (second !== undefined && name !== undefined)
    throw usageError("give the name once: KIND NAME, or KIND/NAME");
  const tenant = options.tenant === undefined ? {} : { tenant: tenantOf(options.tenant) };
  return { kind: first, name: second ?? name ?? "", ...tenant };
}

/** The same where a name is needed. */
export function namedReferenceOf(kind: string, name: string | undefined, options: TenantOptions): Reference {
  const ref = referenceOf(kind, name, options);
  if (ref.name === "")
    throw usageError(`which ${ref.kind}? Write ${ref.kind}/NAME`, `retinue get ${ref.kind} lists them`);
  return ref;
}

export function documentOf(payload: Uint8Array): JsonObject {
  return payload.length === 0 ? {} : (JSON.parse(new TextDecoder().decode(payload)) as JsonObject);
}

export function payloadOf(document: JsonObject): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(document));
}

/** The document; undefined where there is none. */
export async function find(server: Server, ref: Reference): Promise<GetResourceResponse | undefined> {
  try {
    return await server.catalog.getResource({ ref });
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.NotFound) return undefined;
    throw error;
  }
}
