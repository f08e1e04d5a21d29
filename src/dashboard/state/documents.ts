import type { GetResourceResponse } from "../../../gen/retinue/v1/catalog_service_pb.js";
import { catalog } from "./api.js";

/** A document as JSON, whatever its kind. */
export type Document = Record<string, unknown>;

const decoder = new TextDecoder();
const encoder = new TextEncoder();

export function documentOf(payload: Uint8Array): Document {
  return payload.length === 0 ? {} : (JSON.parse(decoder.decode(payload)) as Document);
}

export function payloadOf(document: Document): Uint8Array<ArrayBuffer> {
  return encoder.encode(JSON.stringify(document));
}

/** All documents of a kind. */
export async function listDocuments(kind: string): Promise<GetResourceResponse[]> {
  const found: GetResourceResponse[] = [];
  for (let pageToken = ""; ; ) {
    const page = await catalog.listResources({ ref: { kind }, pageSize: 200, pageToken });
    found.push(...page.entries);
    pageToken = page.nextPageToken;
    if (pageToken === "") return found;
  }
}

export interface Write {
  readonly kind: string;
  readonly name: string;
  readonly document: Document;
  /** Undefined: whatever is there is replaced. */
  readonly ifGenerationMatch?: bigint | undefined;
  readonly justification?: string;
  readonly updateMask?: readonly string[];
}

export interface Written {
  readonly document: Document;
  /** 0: a change request was made instead. */
  readonly generation: bigint;
}

export async function writeDocument(write: Write): Promise<Written> {
  const { kind, name, document, ifGenerationMatch, justification = "", updateMask } = write;
  const { payload, generation } = await catalog.putResource({
    ref: { kind, name },
    payload: payloadOf(document),
    justification,
    ...(ifGenerationMatch === undefined ? {} : { ifGenerationMatch }),
    ...(updateMask === undefined ? {} : { updateMask: { paths: [...updateMask] } }),
  });
  return { document: documentOf(payload), generation };
}

/** A name that nobody chose: a word and some letters. */
export function mintName(word: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(5));
  return `${word}-${[...bytes].map((byte) => byte.toString(36).padStart(2, "0").slice(-2)).join("")}`;
}
