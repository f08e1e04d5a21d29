import { join } from "node:path";
import { create, toJsonString } from "@bufbuild/protobuf";
import { Provider } from "../../gen/retinue/v1/agent_id_pb.js";
import { TokenSchema } from "../../gen/retinue/v1/catalog_pb.js";
import type { Caller } from "../domain/caller.js";
import { kindOf } from "../domain/catalog/kinds/index.js";
import type { KeyParts } from "../domain/key.js";
import { type Role, SCOPES } from "../domain/scope.js";
import type { Vault } from "../domain/vault.js";
import type { Auditor } from "../engine/audit.js";
import { createCatalog } from "../engine/catalog/catalog.js";
import type { Clock } from "../engine/clock.js";
import type { Schemas } from "../schemas/schemas.js";
import type { Store } from "../storage/store.js";

import { readKeyFile, writeKeyFile } from "./key-file.js";

const TENANT = "codehost_app/local";

/** The server itself, where nobody calls. */
export const SYSTEM: Caller = {
  tenant: TENANT,
  ownerProvider: Provider.CODEHOST_OAUTH,
  account: "admin",
  keyId: "",
  keyName: "",
  role: "",
  scopes: new Set(SCOPES),
  expiresAtMs: undefined,
};

export interface BootstrapOptions {
  readonly store: Store;
  readonly auditor: Auditor;
  readonly clock: Clock;
  readonly schemas: Pick<Schemas, "check">;
  readonly vault: Vault;
  readonly dataDir: string;
  readonly operatorKeyFile: string | undefined;
}

/**
 * Gives an empty store its first key, and an operator theirs. The file is written before the commit: a crash
 * between the two leaves a key file that the next start takes up (operator) or writes anew (admin), never a
 * stored key that nobody holds.
 */
export async function bootstrap(options: BootstrapOptions): Promise<{ adminKeyFile: string }> {
  const { store, clock, dataDir, operatorKeyFile } = options;
  const adminKeyFile = join(dataDir, "admin.key");
  if (!(await store.hasKeys())) {
    const parts = clock.newKey();
    writeKeyFile(adminKeyFile, parts);
    await mint(options, parts, "admin", "admin", "admin");
  }
  if (operatorKeyFile !== undefined) await adoptOperatorKey(options, operatorKeyFile);
  return { adminKeyFile };
}

async function adoptOperatorKey(options: BootstrapOptions, file: string): Promise<void> {
  let parts = readKeyFile(file);
  if (parts === undefined) {
    parts = options.clock.newKey();
    writeKeyFile(file, parts);
  }
  if ((await options.store.key(parts.keyId)) !== undefined) return;
  await mint(options, parts, `operator-${parts.keyId}`, "platform-operator", "operator");
}

/** Mints through the catalog like everybody else, so that the key is listed, audited and revocable. */
async function mint(options: BootstrapOptions, parts: KeyParts, name: string, role: Role, account: string) {
  const { store, auditor, schemas, vault } = options;
  const clock = { ...options.clock, newKey: () => parts };
  const catalog = createCatalog({
    store,
    clock,
    auditor,
    schemas,
    vault,
    publicUrl: () => "",
    keyChanged: () => {},
    changed: () => {},
  });
  const document = create(TokenSchema, { displayName: name, role, account });
  await catalog.put({
    ref: { tenant: TENANT, kind: "token", name },
    kind: kindOf("token"),
    payload: Buffer.from(toJsonString(TokenSchema, document)),
    mask: [],
    ifGeneration: undefined,
    act: { caller: SYSTEM, action: "system/bootstrap", justification: "first start" },
  });
}
