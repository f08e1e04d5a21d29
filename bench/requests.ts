import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { GetResourceRequestSchema, PutResourceRequestSchema } from "../gen/retinue/v1/catalog_service_pb.js";
import { WhoamiRequestSchema } from "../gen/retinue/v1/identity_service_pb.js";

/** A request without a server: what h2load and a single probe need to send it. */
export interface RequestShape {
  readonly protocol: "grpc" | "http1";
  readonly paths: readonly string[];
  readonly body?: Buffer;
  readonly bodyFile?: string;
  /** Where vary-body.c counts, "at step name-at"; only for bodies that must differ. */
  readonly vary?: string;
}

export const KIND = "workspace";
/** Documents that are written in turn, `bench-a` and the letters after it. */
export const DOCUMENTS = 8;
const NAMES = Array.from({ length: DOCUMENTS }, (_, i) => `bench-${"abcdefgh"[i]}`);

/** Eight letters, three bytes apart: in base64 each is the last of four characters, and counts up there as well. */
const COUNTER = "00A".repeat(8);

/** A workspace as people write them, with a counter in it. Base64 falls into step every three bytes. */
function documentText(): string {
  const repo = { name: "app", url: "https://git.example.com/team/app.git", baseBranch: "main" };
  const text = JSON.stringify({
    displayName: "Bench",
    description: `Change ${COUNTER} of many.`,
    repos: [repo],
  });
  return " ".repeat((3 - (text.indexOf(COUNTER) % 3)) % 3) + text;
}

export function requestShapes(tempDir: string) {
  const file = (name: string, body: Buffer): Pick<RequestShape, "body" | "bodyFile"> => {
    const bodyFile = join(tempDir, name);
    writeFileSync(bodyFile, body);
    return { body, bodyFile };
  };
  const [name = ""] = NAMES;
  const ref = { kind: KIND, name };
  const payload = Buffer.from(documentText());
  const base64 = Buffer.from(JSON.stringify({ payload: payload.toString("base64") }));
  const put = frame(PutResourceRequestSchema, { ref, payload });
  const counterAt = put.indexOf(COUNTER) + 2;
  const base64At = base64.indexOf(Buffer.from(COUNTER).toString("base64")) + 3;
  const resource = "/retinue.v1.CatalogService";

  return {
    grpcWhoami: {
      protocol: "grpc",
      paths: ["/retinue.v1.IdentityService/Whoami"],
      ...file("whoami.grpc", frame(WhoamiRequestSchema, {})),
    },
    grpcRead: {
      protocol: "grpc",
      paths: [`${resource}/GetResource`],
      ...file("get.grpc", frame(GetResourceRequestSchema, { ref })),
    },
    grpcWrite: {
      protocol: "grpc",
      paths: [`${resource}/PutResource`],
      vary: `${counterAt} 3 ${put.indexOf(name) + name.length - 1}`,
      ...file("put.grpc", put),
    },
    grpcWriteOne: {
      protocol: "grpc",
      paths: [`${resource}/PutResource`],
      vary: `${counterAt} 3 -1`,
      ...file("put-one.grpc", put),
    },
    httpWhoami: { protocol: "http1", paths: ["/v1/whoami"] },
    httpRead: { protocol: "http1", paths: [`/v1/catalog/${KIND}/${name}`] },
    httpWrite: {
      protocol: "http1",
      paths: NAMES.map((each) => `/v1/catalog/${KIND}/${each}`),
      vary: `${base64At} 4 -1`,
      ...file("put.json", base64),
    },
  } as const satisfies Record<string, RequestShape>;
}

function frame<Desc extends DescMessage>(schema: Desc, init: MessageInitShape<Desc>): Buffer {
  return framed(toBinary(schema, create(schema, init)));
}

/** A message as gRPC sends it. */
export function framed(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** `key` empty: none, for servers that know no keys. */
export function requestHeaders({ protocol, body }: RequestShape, key: string): Record<string, string> {
  const authorization: Record<string, string> = key === "" ? {} : { authorization: `Bearer ${key}` };
  if (protocol === "grpc") return { ...authorization, "content-type": "application/grpc", te: "trailers" };
  return body === undefined ? authorization : { ...authorization, "content-type": "application/json" };
}
