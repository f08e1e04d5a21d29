import { Backend } from "../../../gen/retinue/v1/settings_pb.js";
import type { BackendRules } from "./rules.js";

const PREFIXES = ["claude", "opus", "sonnet", "haiku"];

export const backendA: BackendRules = {
  backend: Backend.A,
  title: "backend A",
  efforts: ["low", "medium", "high", "xhigh", "max"],
  tiers: [],
  ownsModel: (name) => name === "script-a" || PREFIXES.some((prefix) => name.startsWith(prefix)),
};
