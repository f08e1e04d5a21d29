import type { ResourceVersion } from "../../../gen/retinue/v1/catalog_service_pb.js";
import type { Server } from "../server.js";
import type { Reference } from "./reference.js";

const PAGE = 200;

/** Versions of a document, newest first, until one is enough. */
export async function* versionsOf(server: Server, ref: Reference): AsyncGenerator<ResourceVersion> {
  let pageToken = "";
  do {
    const page = await server.catalog.listResourceVersions({ ref, pageSize: PAGE, pageToken });
    yield* page.versions;
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}
