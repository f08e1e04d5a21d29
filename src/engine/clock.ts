import { randomBytes, randomUUID } from "node:crypto";
import { type KeyParts, keyFromRandom } from "../domain/key.js";

/** Time and chance, the two things that rules are not allowed to make for themselves. Tests bring their own. */
export interface Clock {
  nowMs(): number;
  newId(): string;
  newKey(): KeyParts;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  newId: () => randomUUID(),
  newKey: () => keyFromRandom(randomBytes(42)),
};
