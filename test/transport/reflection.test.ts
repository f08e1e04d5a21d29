import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import http2 from "node:http2";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { create, createFileRegistry, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Code } from "../../gen/google/rpc/code_pb.js";
import {
  ServerReflection,
  type ServerReflectionRequestSchema,
  type ServerReflectionResponse,
} from "../../gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { type Served, serve } from "./rpc-server.js";

type Question = NonNullable<MessageInitShape<typeof ServerReflectionRequestSchema>["messageRequest"]>;
type Answer = ServerReflectionResponse["messageResponse"];

const VERSIONS = { v1: ServerReflection, v1alpha: ServerReflectionAlpha } as const;

async function ask(served: Served, version: keyof typeof VERSIONS, questions: Question[]): Promise<Answer[]> {
  const service = VERSIONS[version] as typeof ServerReflection;
  const client = createClient(service, createGrpcTransport({ baseUrl: served.url }));
  const answers: Answer[] = [];
  async function* send() {
    for (const messageRequest of questions) yield { host: "h", messageRequest };
  }
  for await (const { validHost, originalRequest, messageResponse } of client.serverReflectionInfo(send())) {
    assert.equal(validHost, "h");
    assert.equal(originalRequest?.messageRequest.case, questions[answers.length]?.case);
    answers.push(messageResponse);
  }
  return answers;
}

function filesIn(answer: Answer | undefined) {
  assert.equal(answer?.case, "fileDescriptorResponse", JSON.stringify(answer));
  return (answer.value as { fileDescriptorProto: Uint8Array[] }).fileDescriptorProto.map((bytes) =>
    fromBinary(FileDescriptorProtoSchema, bytes),
  );
}

const SYMBOLS: readonly (readonly [what: string, symbol: string, file: string])[] = [
  ["a service", "retinue.v1.TimelineService", "retinue/v1/timeline_service.proto"],
  ["a method", "retinue.v1.TimelineService.Watch", "retinue/v1/timeline_service.proto"],
  ["a message", "retinue.v1.WatchRequest", "retinue/v1/timeline_service.proto"],
  ["a field", "retinue.v1.WatchRequest.after_seq", "retinue/v1/timeline_service.proto"],
  ["a oneof", "retinue.v1.WatchResponse.update", "retinue/v1/timeline_service.proto"],
  ["an enum", "retinue.v1.Provider", "retinue/v1/agent_id.proto"],
  ["an enum value", "retinue.v1.PROVIDER_CODEHOST_APP", "retinue/v1/agent_id.proto"],
  ["a nested enum", "grpc.health.v1.HealthCheckResponse.ServingStatus", "health/v1/health.proto"],
  ["a value of a nested enum", "grpc.health.v1.HealthCheckResponse.SERVING", "health/v1/health.proto"],
  ["an extension", "google.api.http", "google/api/annotations.proto"],
  ["itself", "grpc.reflection.v1.ServerReflection", "grpc/reflection/v1/reflection.proto"],
];

for (const version of ["v1", "v1alpha"] as const) {
  describe(`grpc.reflection.${version}`, () => {
    it("lists the services", async (t) => {
      const [answer] = await ask(await serve(t, {}), version, [{ case: "listServices", value: "" }]);
      assert.equal(answer?.case, "listServicesResponse");
      assert.deepEqual(
        (answer.value as { service: { name: string }[] }).service.map(({ name }) => name),
        [
          "grpc.health.v1.Health",
          "grpc.reflection.v1.ServerReflection",
          "grpc.reflection.v1alpha.ServerReflection",
          "retinue.v1.CatalogService",
          "retinue.v1.IdentityService",
          "retinue.v1.TimelineService",
        ],
      );
    });

    it("finds a file by its name, and brings all that it needs", async (t) => {
      const [answer] = await ask(await serve(t, {}), version, [
        { case: "fileByFilename", value: "retinue/v1/timeline_service.proto" },
      ]);
      const files = filesIn(answer);
      assert.equal(files[0]?.name, "retinue/v1/timeline_service.proto");
      // Fails if a file is missing.
      const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: sorted(files) }));
      assert.equal(
        registry.getService("retinue.v1.TimelineService")?.method.watch?.output.typeName,
        "retinue.v1.WatchResponse",
      );
    });

    it("finds files by what they declare, on one stream", async (t) => {
      const questions = SYMBOLS.map(([, value]): Question => ({ case: "fileContainingSymbol", value }));
      const answers = await ask(await serve(t, {}), version, questions);
      for (const [i, [what, symbol, file]] of SYMBOLS.entries()) {
        assert.equal(filesIn(answers[i])[0]?.name, file, `${what}: ${symbol}`);
      }
    });

    it("finds extensions by the type they extend", async (t) => {
      const containingType = "google.protobuf.MethodOptions";
      const [file, numbers, none] = await ask(await serve(t, {}), version, [
        { case: "fileContainingExtension", value: { containingType, extensionNumber: 72295728 } },
        { case: "allExtensionNumbersOfType", value: containingType },
        { case: "allExtensionNumbersOfType", value: "retinue.v1.WatchRequest" },
      ]);
      assert.equal(filesIn(file)[0]?.name, "google/api/annotations.proto");
      assert.ok(
        (numbers?.value as { extensionNumber: number[] } | undefined)?.extensionNumber.includes(72295728),
      );
      assert.deepEqual((none?.value as { extensionNumber: number[] } | undefined)?.extensionNumber, []);
    });

    it("says NOT_FOUND, and goes on", async (t) => {
      const answers = await ask(await serve(t, {}), version, [
        { case: "fileByFilename", value: "nope.proto" },
        { case: "fileContainingSymbol", value: "retinue.v1" },
        {
          case: "fileContainingExtension",
          value: { containingType: "retinue.v1.WatchRequest", extensionNumber: 1 },
        },
        { case: "allExtensionNumbersOfType", value: "nope" },
        { case: undefined },
      ]);
      const codes = answers.map((answer) =>
        answer.case === "errorResponse" ? answer.value.errorCode : answer.case,
      );
      assert.deepEqual(codes, [
        Code.NOT_FOUND,
        Code.NOT_FOUND,
        Code.NOT_FOUND,
        Code.NOT_FOUND,
        Code.INVALID_ARGUMENT,
      ]);
    });

    it("ends with the server, also while nobody asks", async (t) => {
      const served = await serve(t, {});
      const session = http2.connect(served.url);
      t.after(() => session.destroy());
      const stream = session.request({
        ":method": "POST",
        ":path": `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
        "content-type": "application/grpc",
      });
      // A first question shows that the handler runs: list_services "".
      stream.write(Buffer.from([0, 0, 0, 0, 2, 0x3a, 0]));
      await once(stream, "data");
      served.shutdown.abort();
      const [trailers] = (await once(stream, "trailers")) as [http2.IncomingHttpHeaders];
      assert.equal(trailers["grpc-status"], "0");
      await once(stream, "close");
    });
  });
}

/** Dependencies before what needs them, as createFileRegistry wants it. */
function sorted<F extends { name: string; dependency: string[] }>(files: F[]): F[] {
  const rest = new Map(files.map((file) => [file.name, file]));
  const visit = (name: string): F[] => {
    const file = rest.get(name);
    rest.delete(name);
    return file ? [...file.dependency.flatMap(visit), file] : [];
  };
  return files.flatMap(({ name }) => visit(name));
}

describe("buf curl", () => {
  it("calls by reflection alone", async (t) => {
    const served = await serve(t, { unary: async () => ({ account: "größe" }) });
    const args = [
      "curl",
      "--http2-prior-knowledge",
      "--protocol",
      "grpc",
      `${served.url}/retinue.v1.IdentityService/Whoami`,
    ];
    const { stdout } = await promisify(execFile)("node_modules/.bin/buf", args);
    assert.deepEqual(JSON.parse(stdout), { account: "größe" });
  });
});
