import { create, fromJsonString, type MessageInitShape } from "@bufbuild/protobuf";
import { type WhoamiResponse, WhoamiResponseSchema } from "../../gen/retinue/v1/identity_service_pb.js";

/** Retinue's own answer, handed down as JSON, so that the servers beside it send not a byte less. */
export const WHOAMI_JSON = process.env.BENCH_WHOAMI ?? "{}";

const parsed = fromJsonString(WhoamiResponseSchema, WHOAMI_JSON);
const { provider = 0, org = "" } = parsed.tenant ?? {};
const { version = "" } = parsed.server ?? {};

/** Put together anew for each call, as a handler does. */
export function whoamiMessage(): WhoamiResponse {
  const { ownerProvider, account, keyId, keyName, role, scopes } = parsed;
  const init: MessageInitShape<typeof WhoamiResponseSchema> = {
    tenant: { provider, org },
    ownerProvider,
    account,
    keyId,
    keyName,
    role,
    scopes,
    server: { version },
  };
  return create(WhoamiResponseSchema, init);
}
