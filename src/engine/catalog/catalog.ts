import type { ChangeRequest, ShareLink } from "../../../gen/retinue/v1/catalog_pb.js";
import { requireScope } from "../../domain/caller.js";
import { parseDocument } from "../../domain/catalog/document.js";
import type { Document } from "../../domain/catalog/kind.js";
import { changeRequest } from "../../domain/catalog/kinds/change-request.js";
import { kindOf } from "../../domain/catalog/kinds/index.js";
import { shareLink } from "../../domain/catalog/kinds/share-link.js";
import { isFullReplace, resolveMask } from "../../domain/catalog/mask.js";
import { failedPrecondition, invalidField } from "../../domain/fault.js";
import type { KeyRecord } from "../../domain/key.js";
import type { Vault } from "../../domain/vault.js";
import type { Schemas } from "../../schemas/schemas.js";
import type { Change, ResourceKey, Store, StoredResource } from "../../storage/store.js";
import type { Auditor } from "../audit.js";
import type { Clock } from "../clock.js";
import { createDoor } from "../door.js";
import { type AmendRequest, decideAmend } from "./amend.js";
import {
  changeRequestOf,
  changeRequestRef,
  decideApprove,
  decidePropose,
  decideReject,
  targetOf,
  type Verdict,
} from "./change-requests.js";
import { decidePut, type Moment, type PutReply, type PutRequest } from "./put.js";
import { decideRemove, type RemoveRequest } from "./remove.js";
import { withShareTarget } from "./share-target.js";
import {
  type CatalogDecision,
  type CatalogValue,
  type DoorValue,
  documentOf,
  doorKey,
  type Look,
  loadValue,
  referrersKey,
} from "./values.js";

/** Writes of catalog documents. Reads are in read.ts: they need no door. */
export interface Catalog {
  put(request: PutRequest): Promise<PutReply>;
  /** Makes a change-request of a write; answers with the record. */
  propose(request: PutRequest): Promise<StoredResource>;
  remove(request: RemoveRequest): Promise<{ generation: number }>;
  /** A write of the server itself, server-set fields included. A document that is gone stays gone. */
  amend<D extends Document>(request: AmendRequest<D>): Promise<void>;
  approve(verdict: Verdict): Promise<{ record: ChangeRequest; stored: StoredResource; generation: number }>;
  reject(verdict: Verdict): Promise<{ record: ChangeRequest; stored: StoredResource }>;
}

/** Documents kept in memory between writes: enough for those that are written all the time. */
const REMEMBERED = 256;

export interface CatalogOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly auditor: Auditor;
  readonly schemas: Pick<Schemas, "check">;
  readonly vault: Vault;
  /** How people reach this server; known once it listens. */
  readonly publicUrl: () => string;
  /** A key was changed by a commit that stands. */
  readonly keyChanged: (key: KeyRecord) => void;
  /** A document was written or deleted by a commit that stands. */
  readonly changed: (stored: StoredResource) => void;
}

export function createCatalog(options: CatalogOptions): Catalog {
  const { store, clock, auditor, schemas, vault } = options;
  const door = createDoor<DoorValue>({
    store,
    load: (key) => loadValue(store, key),
    remember: REMEMBERED,
  });
  const moment = (look: Look): Moment => ({
    look,
    nowMs: clock.nowMs(),
    newKey: clock.newKey,
    vault,
    publicUrl: options.publicUrl(),
    auditor,
  });

  /** Goes through the door, and tells of what the commit changed once it stands. */
  async function change<R>(
    refs: readonly ResourceKey[],
    decide: (values: readonly CatalogValue[], look: Look) => CatalogDecision<R>,
  ): Promise<R> {
    let committed: readonly Change[] = [];
    const keys = refs.map(doorKey);
    const reply = await door.change((view) => {
      const look: Look = {
        value: (ref) => view.get(doorKey(ref)),
        referrers: (ref) => view.get(referrersKey(ref)).referrers ?? [],
      };
      const { values, changes, reply } = decide(
        keys.map((key) => view.get(key)),
        look,
      );
      committed = changes;
      return { values: new Map(values.map((value, i) => [keys[i] as string, value])), changes, reply };
    });
    for (const done of committed) {
      if (done.type === "key") options.keyChanged(done.key);
      if (done.type === "resource") options.changed(done.resource);
    }
    return reply;
  }

  return {
    async put(request) {
      const parsed = writable(request);
      const sent =
        request.kind.name === shareLink.name
          ? await withShareTarget(store, request, parsed as ShareLink)
          : parsed;
      await checkSchemas(schemas, request, sent);
      return change([request.ref], ([value], look) =>
        decidePut(request, sent, value as CatalogValue, moment(look)),
      );
    },

    async propose(request) {
      const sent = writable(request);
      await checkSchemas(schemas, request, sent);
      const name = `cr-${clock.newId()}`;
      const refs = [request.ref, changeRequestRef(request.ref.tenant, name)];
      return change(refs, (values, look) => decidePropose(request, sent, values, name, moment(look)));
    },

    async remove(request) {
      refuseUnwritable(request);
      return change([request.ref], ([value], look) =>
        decideRemove(request, value as CatalogValue, moment(look)),
      );
    },

    amend(request) {
      return change([request.ref], ([value], look) =>
        decideAmend(request, value as CatalogValue, moment(look)),
      );
    },

    async approve(verdict) {
      const open = changeRequestOf(verdict.ref, await loadValue(store, doorKey(verdict.ref)));
      const target = targetOf(verdict.ref, open);
      requireScope(verdict.act.caller, kindOf(target.kind).writeScope);
      const done = await change([verdict.ref, target], (values, look) =>
        decideApprove(verdict, values, moment(look)),
      );
      return { record: recordOf(done.record), stored: done.record, generation: done.generation };
    },

    async reject(verdict) {
      const stored = await change([verdict.ref], (values, look) =>
        decideReject(verdict, values, moment(look)),
      );
      return { record: recordOf(stored), stored };
    },
  };
}

/** Schemas that the write brings: to compile one takes its time, so it happens before anything is decided. */
async function checkSchemas(
  schemas: Pick<Schemas, "check">,
  { kind, mask }: PutRequest,
  sent: Document,
): Promise<void> {
  for (const { field, schema } of kind.schemas?.(sent) ?? []) {
    const masked = !isFullReplace(mask) && !resolveMask(kind.schema, mask).some(({ text }) => text === field);
    if (schema === "" || masked) continue;
    const violation = await schemas.check(schema);
    if (violation !== undefined) throw invalidField(field, violation, "SCHEMA_INVALID");
  }
}

function recordOf(stored: StoredResource): ChangeRequest {
  return documentOf(changeRequest, stored);
}

function writable(request: PutRequest) {
  refuseUnwritable(request);
  return parseDocument(request.kind, request.payload);
}

function refuseUnwritable({ kind, ref }: Pick<PutRequest, "kind" | "ref">): void {
  if (kind.notWritable) {
    throw failedPrecondition("KIND_NOT_WRITABLE", `${ref.kind}/${ref.name}`, kind.notWritable);
  }
}
