import { create } from "@bufbuild/protobuf";
import {
  type ChangeRequest,
  ChangeRequestSchema,
  ChangeRequestState,
} from "../../../gen/retinue/v1/catalog_pb.js";
import { actorOf } from "../../domain/caller.js";
import { canonicalJson, parseDocument } from "../../domain/catalog/document.js";
import { changeRequest } from "../../domain/catalog/kinds/change-request.js";
import { kindOf } from "../../domain/catalog/kinds/index.js";
import { isFullReplace, resolveMask } from "../../domain/catalog/mask.js";
import { failedPrecondition, permissionDenied } from "../../domain/fault.js";
import type { ResourceKey, StoredResource } from "../../storage/store.js";
import type { Act } from "../audit.js";
import { decidePut, type Moment, type PutRequest, resourceNotFound } from "./put.js";
import { type CatalogDecision, type CatalogValue, documentOf, liveOf } from "./values.js";

const KIND = changeRequest.name;

export function changeRequestRef(tenant: string, name: string): ResourceKey {
  return { tenant, kind: KIND, name };
}

/** Records a write instead of performing it. The write must be one that would succeed now. */
export function decidePropose(
  request: PutRequest,
  sent: Parameters<typeof decidePut>[1],
  [target]: readonly CatalogValue[],
  name: string,
  moment: Moment,
): CatalogDecision<StoredResource> {
  decidePut(request, sent, target as CatalogValue, moment);
  const record = create(ChangeRequestSchema, {
    name,
    target: { kind: request.ref.kind, name: request.ref.name },
    payload: request.payload,
    updateMask: maskText(request),
    baseGeneration: BigInt(liveOf(target as CatalogValue)?.generation ?? 0),
    proposedBy: actorOf(request.act.caller),
    justification: request.act.justification,
    state: ChangeRequestState.OPEN,
  });
  const ref = changeRequestRef(request.ref.tenant, name);
  const { stored, changes } = recordVersion(ref, record, undefined, request.act, moment);
  return { values: [target as CatalogValue, { stored }], changes, reply: stored };
}

export interface Verdict {
  readonly ref: ResourceKey;
  readonly note: string;
  readonly act: Act;
}

/** Performs the proposed write, against the generation it was made for, and closes the request: one commit. */
export function decideApprove(
  verdict: Verdict,
  [own, target]: readonly CatalogValue[],
  moment: Moment,
): CatalogDecision<{ record: StoredResource; generation: number }> {
  const record = openRequest(verdict.ref, own as CatalogValue);
  if (record.proposedBy === actorOf(verdict.act.caller)) {
    throw permissionDenied("a change request is approved by somebody other than its proposer");
  }
  const ref = targetOf(verdict.ref, record);
  const kind = kindOf(ref.kind);
  const put: PutRequest = {
    ref,
    kind,
    payload: record.payload,
    mask: record.updateMask === "" ? [] : record.updateMask.split(","),
    ifGeneration: record.baseGeneration,
    act: { ...verdict.act, justification: record.justification },
  };
  const write = decidePut(put, parseDocument(kind, record.payload), target as CatalogValue, moment);
  const closed = close(verdict, own as CatalogValue, record, ChangeRequestState.APPROVED, moment);
  return {
    values: [{ stored: closed.stored }, write.values[0] ?? (target as CatalogValue)],
    changes: [...write.changes, ...closed.changes],
    reply: { record: closed.stored, generation: write.reply.generation },
  };
}

/** Closes the request without writing. Its proposer may do so too; others need the right to write. */
export function decideReject(
  verdict: Verdict,
  [own]: readonly CatalogValue[],
  moment: Moment,
): CatalogDecision<StoredResource> {
  const record = openRequest(verdict.ref, own as CatalogValue);
  const { caller } = verdict.act;
  if (record.proposedBy !== actorOf(caller) && !caller.scopes.has("catalog:write")) {
    throw permissionDenied("rejecting somebody else's change request needs the scope catalog:write", {
      scope: "catalog:write",
    });
  }
  const closed = close(verdict, own as CatalogValue, record, ChangeRequestState.REJECTED, moment);
  return {
    values: [{ stored: closed.stored }],
    changes: closed.changes,
    reply: closed.stored,
  };
}

/** The mask as JSON writes it; FieldMask carries proto names. */
function maskText({ kind, mask }: PutRequest): string {
  if (isFullReplace(mask)) return "";
  return resolveMask(kind.schema, mask)
    .map((path) => path.text)
    .join(",");
}

/** The document that a stored change request is about. */
export function targetOf(ref: ResourceKey, record: ChangeRequest): ResourceKey {
  return { tenant: ref.tenant, kind: record.target?.kind ?? "", name: record.target?.name ?? "" };
}

export function changeRequestOf(ref: ResourceKey, value: CatalogValue): ChangeRequest {
  const live = liveOf(value);
  if (live === undefined) throw resourceNotFound(ref);
  return documentOf(changeRequest, live);
}

function openRequest(ref: ResourceKey, value: CatalogValue): ChangeRequest {
  const record = changeRequestOf(ref, value);
  if (record.state === ChangeRequestState.OPEN) return record;
  const state = ChangeRequestState[record.state];
  throw failedPrecondition(
    "CHANGE_REQUEST_DECIDED",
    `${KIND}/${ref.name}`,
    `${ref.name} is already ${state}`,
  );
}

function close(
  verdict: Verdict,
  own: CatalogValue,
  open: ChangeRequest,
  state: ChangeRequestState,
  moment: Moment,
) {
  const record = { ...open, state, decidedBy: actorOf(verdict.act.caller), note: verdict.note };
  return recordVersion(verdict.ref, record, own.stored, verdict.act, moment);
}

function recordVersion(
  ref: ResourceKey,
  record: ChangeRequest,
  before: StoredResource | undefined,
  act: Act,
  moment: Moment,
) {
  const actor = actorOf(act.caller);
  const stored: StoredResource = {
    ...ref,
    generation: (before?.generation ?? 0) + 1,
    deleted: false,
    document: canonicalJson(changeRequest, record),
    createdAtMs: before?.createdAtMs ?? moment.nowMs,
    createdBy: before?.createdBy ?? actor,
    updatedAtMs: moment.nowMs,
    updatedBy: actor,
  };
  const change = {
    type: "resource",
    resource: stored,
    justification: act.justification,
    ifGeneration: before?.generation ?? 0,
  } as const;
  const audit = moment.auditor.done(act, {
    tenant: ref.tenant,
    target: `${KIND}/${ref.name}`,
    generationBefore: 0,
    generationAfter: 0,
  });
  return { stored, changes: [change, audit] };
}
