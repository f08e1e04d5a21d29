import type { Backend } from "../../../gen/retinue/v1/settings_pb.js";

/** What sets one backend apart from the other: which models are its own and which settings it takes. */
export interface BackendRules {
  readonly backend: Backend;
  /** How people call it. */
  readonly title: string;
  readonly efforts: readonly string[];
  /** Empty for a backend that has no tiers. */
  readonly tiers: readonly string[];
  /** Whether a model of this name belongs to the backend when no catalog document says otherwise. */
  ownsModel(name: string): boolean;
}
