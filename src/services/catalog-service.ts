import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { CatalogService, type ResourceRef } from "../../gen/retinue/v1/catalog_service_pb.js";
import { resolveTenant } from "../domain/caller.js";
import { assemblePayload } from "../domain/catalog/document.js";
import type { Kind } from "../domain/catalog/kind.js";
import { kindOf } from "../domain/catalog/kinds/index.js";
import { invalidField, invalidFields } from "../domain/fault.js";
import { nameViolation } from "../domain/name.js";
import type { Catalog } from "../engine/catalog/catalog.js";
import { changeRequestRef } from "../engine/catalog/change-requests.js";
import type { CatalogReads } from "../engine/catalog/read.js";
import type { ResourceKey } from "../storage/store.js";
import { cutPage, decodePageToken, pageSizeOf } from "./page.js";
import { actOf, type CallContext, implement, type Service } from "./service.js";

export function catalogService(catalog: Catalog, reads: CatalogReads): Service {
  return implement(CatalogService, {
    async putResource(request, context) {
      const { kind, ref } = resolve(context, request.ref);
      const act = actOf(context, request.justification);
      const write = {
        ref,
        kind,
        payload: request.payload,
        mask: request.updateMask?.paths ?? [],
        ifGeneration: request.ifGenerationMatch,
        act,
      };
      if (!context.caller.scopes.has(kind.writeScope)) {
        const stored = await catalog.propose(write);
        return { payload: assemblePayload(stored.document, stored), generation: 0n };
      }
      const { payload, generation } = await catalog.put(write);
      return { payload, generation: BigInt(generation) };
    },

    async getResource(request, context) {
      const { kind, ref } = resolve(context, request.ref);
      const { payload, generation, name } = await reads.get(kind, ref, context.caller);
      return {
        kind: kind.name,
        payload,
        inputFormat: kind.inputFormat,
        generation: BigInt(generation),
        name,
      };
    },

    async listResources(request, context) {
      const tenant = resolveTenant(context.caller, request.ref?.tenant);
      const kind = kindOf(request.ref?.kind ?? "");
      if (request.ref?.name) throw invalidField("ref.name", "a list takes no name");
      const size = pageSizeOf(request.pageSize);
      const rows = await reads.list(
        kind,
        { tenant, afterName: decodePageToken(request.pageToken), limit: size + 1 },
        context.caller,
      );
      const { page, nextPageToken } = cutPage(
        rows,
        size,
        (row) => row.name,
        (row) => row.payload.length,
      );
      const entries = page.map((row) => ({
        kind: kind.name,
        name: row.name,
        payload: row.payload,
        inputFormat: kind.inputFormat,
        generation: BigInt(row.generation),
      }));
      return { entries, nextPageToken };
    },

    async deleteResource(request, context) {
      const { kind, ref } = resolve(context, request.ref);
      const act = actOf(context, request.justification);
      const ifGeneration = request.ifGenerationMatch;
      const { generation } = await catalog.remove({ kind, ref, ifGeneration, act });
      return { generation: BigInt(generation) };
    },

    async listResourceVersions(request, context) {
      const { kind, ref } = resolve(context, request.ref);
      const size = pageSizeOf(request.pageSize);
      const rows = await reads.versions(
        kind,
        { ...ref, beforeGeneration: beforeOf(request.pageToken), limit: size + 1 },
        context.caller,
      );
      const { page, nextPageToken } = cutPage(
        rows,
        size,
        (row) => String(row.generation),
        (row) => row.document.length,
      );
      const versions = page.map((row) => ({
        generation: BigInt(row.generation),
        payload: row.deleted ? new Uint8Array() : assemblePayload(row.document, row),
        deleted: row.deleted,
        time: timestampFromMs(row.updatedAtMs),
        actor: row.updatedBy,
        justification: row.justification,
      }));
      return { versions, nextPageToken };
    },

    async approveChangeRequest(request, context) {
      const verdict = verdictOf(context, request);
      const { record, generation } = await catalog.approve(verdict);
      return { changeRequest: record, generation: BigInt(generation) };
    },

    async rejectChangeRequest(request, context) {
      const { record } = await catalog.reject(verdictOf(context, request));
      return { changeRequest: record };
    },
  });
}

/** Tenant first: who may not act there learns nothing about names. */
function resolve({ caller }: CallContext, ref: ResourceRef | undefined): { kind: Kind; ref: ResourceKey } {
  const tenant = resolveTenant(caller, ref?.tenant);
  const kind = kindOf(ref?.kind ?? "");
  const name = ref?.name ?? "";
  const violation = nameViolation("ref.name", name);
  if (violation) throw invalidFields([violation]);
  return { kind, ref: { tenant, kind: kind.name, name } };
}

function verdictOf(
  context: CallContext,
  request: { name: string; tenant?: Parameters<typeof resolveTenant>[1]; note: string },
) {
  const tenant = resolveTenant(context.caller, request.tenant);
  const act = actOf(context, request.note, "note");
  return { ref: changeRequestRef(tenant, request.name), note: request.note, act };
}

function beforeOf(pageToken: string): number | undefined {
  if (pageToken === "") return undefined;
  const generation = Number(decodePageToken(pageToken));
  if (!Number.isSafeInteger(generation))
    throw invalidField("pageToken", "is not one that this server gave out");
  return generation;
}
