import { Backend } from "../../../gen/retinue/v1/settings_pb.js";
import type { BackendRules } from "./rules.js";

/** `o` + digit: `o3`, `o4-mini`; `opus` is the other backend's. */
const MODEL = /^(?:gpt|codex|o[0-9])/;

export const backendB: BackendRules = {
  backend: Backend.B,
  title: "backend B",
  efforts: ["none", "low", "medium", "high", "xhigh"],
  tiers: ["standard", "fast", "flex"],
  ownsModel: (name) => name === "script-b" || MODEL.test(name),
};
