import { isUtf8 } from "node:buffer";
import type { JsonValue } from "@bufbuild/protobuf";
import { malformed } from "../../domain/fault.js";
import { inspectJson, JSON_DEPTH_MAX } from "../../domain/json-text.js";

/** Bytes of a request as JSON, with everything refused that JSON.parse would let pass in silence. */
export function parseJson(bytes: Buffer): JsonValue {
  if (!isUtf8(bytes)) throw malformed("the body is not valid UTF-8");
  const text = bytes.toString();
  inspectJson(text, "", () =>
    malformed(`the body is nested deeper than ${JSON_DEPTH_MAX} levels`, "JSON_TOO_DEEP"),
  );
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw malformed(`the body is not valid JSON: ${(error as Error).message}`);
  }
}
