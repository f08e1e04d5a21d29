import { create, createRegistry, type JsonValue, toJson } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { type Code as ConnectCode, ConnectError } from "@connectrpc/connect";
import { Code } from "../../gen/google/rpc/code_pb.js";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  file_google_rpc_error_details,
  PreconditionFailureSchema,
  RetryInfoSchema,
} from "../../gen/google/rpc/error_details_pb.js";
import { type Status, StatusSchema } from "../../gen/google/rpc/status_pb.js";
import type { Fault } from "../domain/fault.js";

/** HTTP status of each code: the only place where the two meet. */
const HTTP_STATUS: Readonly<Record<Code, number>> = {
  [Code.OK]: 200,
  [Code.CANCELLED]: 499,
  [Code.UNKNOWN]: 500,
  [Code.INVALID_ARGUMENT]: 400,
  [Code.DEADLINE_EXCEEDED]: 504,
  [Code.NOT_FOUND]: 404,
  [Code.ALREADY_EXISTS]: 409,
  [Code.PERMISSION_DENIED]: 403,
  [Code.RESOURCE_EXHAUSTED]: 429,
  [Code.FAILED_PRECONDITION]: 400,
  [Code.ABORTED]: 409,
  [Code.OUT_OF_RANGE]: 400,
  [Code.UNIMPLEMENTED]: 501,
  [Code.INTERNAL]: 500,
  [Code.UNAVAILABLE]: 503,
  [Code.DATA_LOSS]: 500,
  [Code.UNAUTHENTICATED]: 401,
};

export function httpStatus(code: Code): number {
  return HTTP_STATUS[code];
}

/** The messages of a fault's details: ErrorInfo always, the others where there is something to say. */
function detailsOf(fault: Fault): { desc: Parameters<typeof anyPack>[0]; value: never }[] {
  const { metadata = {}, violations, preconditions, retryAfterMs } = fault.details;
  const details: { desc: Parameters<typeof anyPack>[0]; value: unknown }[] = [
    {
      desc: ErrorInfoSchema,
      value: create(ErrorInfoSchema, { reason: fault.reason, domain: "retinue", metadata: { ...metadata } }),
    },
  ];
  if (violations) {
    const fieldViolations = violations.map((violation) => ({ ...violation }));
    details.push({ desc: BadRequestSchema, value: create(BadRequestSchema, { fieldViolations }) });
  }
  if (preconditions) {
    const list = preconditions.map((violation) => ({ ...violation }));
    details.push({
      desc: PreconditionFailureSchema,
      value: create(PreconditionFailureSchema, { violations: list }),
    });
  }
  if (retryAfterMs !== undefined) {
    const retryDelay = {
      seconds: BigInt(Math.floor(retryAfterMs / 1000)),
      nanos: Math.round((retryAfterMs % 1000) * 1_000_000),
    };
    details.push({ desc: RetryInfoSchema, value: create(RetryInfoSchema, { retryDelay }) });
  }
  return details as { desc: Parameters<typeof anyPack>[0]; value: never }[];
}

/** A fault as gRPC carries it. */
export function toStatus(fault: Fault): Status {
  return create(StatusSchema, {
    code: fault.code,
    message: fault.message,
    details: detailsOf(fault).map(({ desc, value }) => anyPack(desc, value)),
  });
}

const registry = createRegistry(file_google_rpc_error_details);

/** A fault as `/v1` shows it: the JSON form of google.rpc.Status, nothing else. */
export function toEnvelope(fault: Fault): JsonValue {
  return toJson(StatusSchema, toStatus(fault), { registry, alwaysEmitImplicit: true });
}

/** A fault as Connect carries it, in each of its protocols. */
export function toConnectError(fault: Fault): ConnectError {
  return new ConnectError(
    fault.message,
    fault.code as number as ConnectCode,
    undefined,
    detailsOf(fault),
    fault,
  );
}
