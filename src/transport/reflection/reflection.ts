import { type DescFile, type DescService, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponseSchema,
} from "../../../gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { Health } from "../../../gen/health/v1/health_pb.js";
import { createDescriptorIndex, type DescriptorIndex, withDependencies } from "./descriptor-index.js";

type Answer = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]>;

/** A name with room to spare. Anyone may send these, and Connect is slow at long messages in small pieces. */
const MAX_QUESTION_BYTES = 4096;

/** gRPC's server reflection, both versions in use. Open without a key: it tells what is public anyway. */
export function reflectionRoutes(
  router: ConnectRouter,
  services: readonly { readonly desc: DescService }[],
): void {
  const served = [
    ...services.map((service) => service.desc),
    Health,
    ServerReflection,
    ServerReflectionAlpha,
  ];
  const names = served.map((service) => service.typeName).sort();
  // Built when it is first asked for: most servers never are.
  let index: DescriptorIndex | undefined;

  async function* serverReflectionInfo(
    questions: AsyncIterable<ServerReflectionRequest>,
    context: HandlerContext,
  ) {
    for await (const question of untilAborted(questions, context.signal)) {
      index ??= createDescriptorIndex(served.map((service) => service.file));
      const messageResponse = answer(question.messageRequest, names, index);
      yield { validHost: question.host, originalRequest: question, messageResponse };
    }
  }

  const options = { readMaxBytes: MAX_QUESTION_BYTES };
  router.service(ServerReflection, { serverReflectionInfo }, options);
  // The two versions differ in nothing but the name of their package.
  router.service(ServerReflectionAlpha, { serverReflectionInfo } as never, options);
}

function answer(
  question: ServerReflectionRequest["messageRequest"],
  names: readonly string[],
  index: DescriptorIndex,
): Answer {
  switch (question.case) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: names.map((name) => ({ name })) } };
    case "fileByFilename":
      return fileAnswer(index.files.get(question.value), question.value);
    case "fileContainingSymbol":
      return fileAnswer(index.symbols.get(question.value), question.value);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = question.value;
      const file = index.extensions.get(containingType)?.get(extensionNumber);
      return fileAnswer(file, `extension ${extensionNumber} of ${containingType}`);
    }
    case "allExtensionNumbersOfType": {
      const known = index.extensions.get(question.value);
      if (known === undefined) return notFound(question.value);
      const extensionNumber = [...known.keys()].sort((a, b) => a - b);
      return {
        case: "allExtensionNumbersResponse",
        value: { baseTypeName: question.value, extensionNumber },
      };
    }
    default:
      return failed(Code.INVALID_ARGUMENT, "the request asks for nothing");
  }
}

/** The file itself first, then all it needs: some clients look at the first only, others do not ask again. */
function fileAnswer(file: DescFile | undefined, asked: string): Answer {
  if (file === undefined) return notFound(asked);
  const files = [...withDependencies([file])];
  const fileDescriptorProto = files.map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}

function notFound(asked: string): Answer {
  return failed(Code.NOT_FOUND, `not found: ${asked}`);
}

function failed(errorCode: Code, errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}

/** Ends, rather than waits for another question, when the server stops. */
async function* untilAborted<T>(items: AsyncIterable<T>, signal: AbortSignal): AsyncIterable<T> {
  const iterator = items[Symbol.asyncIterator]();
  while (!signal.aborted) {
    const next = await new Promise<IteratorResult<T> | undefined>((resolve, reject) => {
      // The signal belongs to this call alone.
      signal.onabort = () => resolve(undefined);
      iterator.next().then(resolve, reject);
    });
    if (next === undefined || next.done) return;
    yield next.value;
  }
}
