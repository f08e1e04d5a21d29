import {
  createRegistry,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  toJson,
} from "@bufbuild/protobuf";
import { file_retinue_v1_catalog } from "../../../gen/retinue/v1/catalog_pb.js";

/** What the command line has to know of kinds whose documents hold more than their writers wrote. */
interface Particular {
  /** The field that only the answer to the write which makes it carries. */
  readonly once?: string;
  /** Fields that the server sets: no part of what people write. */
  readonly serverSet: readonly string[];
}

const PARTICULARS: Readonly<Record<string, Particular>> = {
  token: { once: "key", serverSet: ["keyId", "lastUsedAt", "key"] },
  "share-link": { once: "url", serverSet: ["keyId", "lastUsedAt", "url"] },
  integration: {
    once: "signingSecret",
    serverSet: ["disabledReason", "signingSecret", "signingNonce", "hookId"],
  },
  schedule: { serverSet: ["actsAs"] },
  secret: { serverSet: ["valueVersion"] },
};

const messages = createRegistry(file_retinue_v1_catalog);

/** The secret that an answer shows this once; undefined for all but kinds that make one. */
export function onceOf(kind: string, document: JsonObject): string | undefined {
  const field = PARTICULARS[kind]?.once;
  const secret = field === undefined ? undefined : document[field];
  return typeof secret === "string" && secret !== "" ? secret : undefined;
}

/**
 * A document as its writer would have written it: without what the server adds, fields in the order of the proto,
 * defaults left out. A kind that this program does not know, or a document that does not fit it, stays as it is: the
 * server will say.
 */
export function written(kind: string, document: JsonObject): JsonObject {
  const serverSet = ["meta", ...(PARTICULARS[kind]?.serverSet ?? [])];
  const own = Object.fromEntries(Object.entries(document).filter(([name]) => !serverSet.includes(name)));
  const schema = messageOf(kind);
  if (schema === undefined) return own;
  try {
    return toJson(schema, fromJson(schema, own as JsonValue)) as JsonObject;
  } catch {
    return own;
  }
}

/** `pool-config` is the message `PoolConfig`. */
function messageOf(kind: string): DescMessage | undefined {
  const name = kind.replace(/(^|-)([a-z])/g, (_match, _dash, letter: string) => letter.toUpperCase());
  return messages.getMessage(`retinue.v1.${name}`);
}

/** Kinds are the messages that have a `meta`. */
export const KINDS: readonly string[] = file_retinue_v1_catalog.messages
  .filter(({ fields }) => fields.some(({ name }) => name === "meta"))
  .map(({ name }) => name.replace(/(?!^)[A-Z]/g, "-$&").toLowerCase());
