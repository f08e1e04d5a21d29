import { fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { StatusSchema } from "../../../gen/google/rpc/status_pb.js";
import type { Fault } from "../../domain/fault.js";
import type { Reply, Rpc } from "../rpc.js";
import { toStatus } from "../status.js";
import { encodeBehind } from "./binary-writer.js";
import {
  compressedWithoutName,
  messageCut,
  messageMissing,
  messagesExtra,
  undecodable,
} from "./request-faults.js";

/** Before each message: a flag for compression and the length. */
export const PREFIX_BYTES = 5;

/** What the prefix says, 0 as long as it is not there. */
export function announcedLength(body: Buffer): number {
  return body.length < PREFIX_BYTES ? 0 : body.readUInt32BE(1);
}

/** The message of a request that has come in whole; throws a Fault. */
export function decodeRequest(rpc: Rpc, body: Buffer): Message {
  if (body.length === 0) throw messageMissing();
  if (body.length < PREFIX_BYTES) throw messageCut();
  const length = body.readUInt32BE(1);
  if (length > body.length - PREFIX_BYTES) throw messageCut();
  if (length < body.length - PREFIX_BYTES) throw messagesExtra();
  if (body[0] !== 0) throw compressedWithoutName();
  try {
    return fromBinary(rpc.method.input, body.subarray(PREFIX_BYTES));
  } catch (error) {
    throw undecodable((error as Error).message);
  }
}

export function encodeReply(rpc: Rpc, reply: Reply): Buffer {
  const frame = encodeBehind(PREFIX_BYTES, rpc.method.output, reply);
  frame[0] = 0;
  frame.writeUInt32BE(frame.length - PREFIX_BYTES, 1);
  return frame;
}

export function statusHeaders(fault: Fault): Record<string, string> {
  const status = Buffer.from(toBinary(StatusSchema, toStatus(fault)));
  return {
    "grpc-status": String(fault.code),
    "grpc-message": percentEncode(fault.message),
    "grpc-status-details-bin": status.toString("base64").replace(/=+$/, ""),
  };
}

/**
 * As gRPC has it: bytes of UTF-8, all but the printable ones of ASCII, and '%' itself. A space at either end
 * is encoded too, since HTTP/2 clients drop such a header as malformed.
 */
export function percentEncode(text: string): string {
  return text.replace(/^ | $|[^\x20-\x24\x26-\x7e]+/g, (run) =>
    Buffer.from(run).toString("hex").toUpperCase().replace(/../g, "%$&"),
  );
}
