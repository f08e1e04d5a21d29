import type { DescService } from "@bufbuild/protobuf";
import { Code } from "../../gen/google/rpc/code_pb.js";
import { Fault } from "../domain/fault.js";
import type { Service } from "./service.js";

/** A service whose engine is still to come: keys and scopes are checked, then it says so. */
export function unimplemented(desc: DescService): Service {
  const handlers: Record<string, () => never> = {};
  for (const method of desc.methods) {
    handlers[method.localName] = () => {
      throw new Fault(Code.UNIMPLEMENTED, "NOT_YET", `${desc.name}/${method.name} is not implemented yet`);
    };
  }
  return { desc, handlers };
}
