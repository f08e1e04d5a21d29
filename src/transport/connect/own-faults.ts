import type { ConnectError } from "@connectrpc/connect";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import { Fault, internal, malformed } from "../../domain/fault.js";
import { deadlineExceeded } from "../call.js";
import { badTimeout } from "../grpc/deadline.js";
import {
  compressedWithoutName,
  messageCut,
  messageMissing,
  messagesExtra,
  undecodable,
} from "../grpc/request-faults.js";
import { requestTooLarge } from "../limits.js";

/**
 * What Connect finds wrong before a handler is called, by the text in which it says so: its codes do not tell
 * these apart, and some are wrong (bytes that are no protobuf are `internal` to it). Connect is pinned to an
 * exact version, and the tests of this table go through its front door.
 */
const BY_TEXT: readonly (readonly [RegExp, (match: RegExpExecArray) => Fault])[] = [
  [/larger than configured readMaxBytes/, requestTooLarge],
  [/^parse binary: (.*)$/s, ([, detail = ""]) => undecodable(detail)],
  [/^cannot decode (?:message|field|oneof) \S+ from JSON: (.*)$/s, ([, detail = ""]) => undecodable(detail)],
  [
    /^protocol error: invalid grpc timeout value: (.*)$/s,
    ([, value = ""]) => badTimeout("grpc-timeout", value),
  ],
  [
    /^protocol error: invalid connect timeout value: (.*)$/s,
    ([, value = ""]) => badTimeout("connect-timeout-ms", value),
  ],
  [/^protocol error: incomplete envelope/, messageCut],
  [/^received compressed envelope/, compressedWithoutName],
  [/^decompression failed/, () => malformed("the message cannot be decompressed")],
  [/^protocol error: missing input message/, messageMissing],
  [/^protocol error: received extra input message/, messagesExtra],
];

/** The fault behind an error that Connect made itself, which is one without details: ours all have some. */
export function connectFault(error: ConnectError): Fault {
  for (const [pattern, make] of BY_TEXT) {
    const match = pattern.exec(error.rawMessage);
    if (match) return make(match);
  }
  const code = error.code as number as Code;
  switch (code) {
    case Code.INTERNAL:
    case Code.UNKNOWN:
      return internal();
    case Code.INVALID_ARGUMENT:
      return malformed(error.rawMessage.replace(/^protocol error: /, ""));
    case Code.DEADLINE_EXCEEDED:
      return deadlineExceeded();
    default:
      return new Fault(code, Code[code], error.rawMessage);
  }
}
