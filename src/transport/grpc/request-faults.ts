import { Code } from "../../../gen/google/rpc/code_pb.js";
import { Fault, malformed } from "../../domain/fault.js";

/*
 * What can be wrong with a request before it is a message. Two adapters find these out, our own lane and
 * Connect, and callers should not be able to tell which one it was.
 */

export function undecodable(detail: string): Fault {
  return malformed(`cannot decode the message: ${detail}`);
}

export function messageCut(): Fault {
  return malformed("the message is cut short");
}

export function compressedWithoutName(): Fault {
  return malformed("the message is marked as compressed, but no header names the compression");
}

/** UNIMPLEMENTED is what gRPC prescribes where the number of messages does not fit the method. */
export function messageMissing(): Fault {
  return new Fault(Code.UNIMPLEMENTED, "UNIMPLEMENTED", "the method takes one message, and none was sent");
}

export function messagesExtra(): Fault {
  return new Fault(Code.UNIMPLEMENTED, "UNIMPLEMENTED", "the method takes one message, and more were sent");
}

export function requestTimedOut(): Fault {
  return new Fault(Code.DEADLINE_EXCEEDED, "REQUEST_TIMEOUT", "the request did not arrive in time");
}
