import { ShareAccess } from "../../../../gen/retinue/v1/access_pb.js";
import { InputFormat, type ShareLink, ShareLinkSchema } from "../../../../gen/retinue/v1/catalog_pb.js";
import type { Kind } from "../kind.js";
import { describedViolations, expiryViolation, found } from "./field-rules.js";
import { maySee, settleShareLink } from "./share-key.js";

export const shareLink: Kind<ShareLink> = {
  name: "share-link",
  schema: ShareLinkSchema,
  inputFormat: InputFormat.YAML,
  // Who may tell an agent what to do may show it around: nothing of the catalog is needed.
  readScope: "agents:message",
  writeScope: "agents:message",
  proposable: false,
  builtins: new Map(),
  serverSet: ["keyId", "lastUsedAt", "url"],
  isFor: maySee,
  validate: (document) => [
    ...describedViolations(document),
    ...found(
      (document.agentId?.agent ?? []).length === 0
        ? { field: "agentId.agent", description: "required: the path of the agent" }
        : undefined,
      document.access === ShareAccess.UNSPECIFIED
        ? { field: "access", description: "required: SHARE_ACCESS_STATUS or SHARE_ACCESS_TIMELINE" }
        : undefined,
      expiryViolation(document),
    ),
  ],
  settle: settleShareLink,
};
