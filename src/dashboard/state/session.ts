import { batch, effect, signal } from "@preact/signals";
import type { WhoamiResponse } from "../../../gen/retinue/v1/identity_service_pb.js";
import { bearer, identity } from "./api.js";
import { keepKey, key } from "./key.js";

/** Who the key of this tab belongs to; undefined until the server has said so. */
export const me = signal<WhoamiResponse>();

/** Keeps the key if the server knows it, else throws what it says. */
export async function signIn(text: string): Promise<void> {
  const who = await identity.whoami({}, { headers: { authorization: bearer(text) } });
  batch(() => {
    keepKey(text);
    me.value = who;
  });
}

/** Asks who the kept key belongs to. */
export async function resume(): Promise<void> {
  me.value = await identity.whoami({});
}

effect(() => {
  if (key.value === "") me.value = undefined;
});

/** Whether the key has a scope. Buttons that could only be refused are not shown. */
export function may(scope: string): boolean {
  return me.value?.scopes.includes(scope) ?? false;
}
