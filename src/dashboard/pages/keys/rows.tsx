import { useState } from "preact/hooks";
import type { GetResourceResponse } from "../../../../gen/retinue/v1/catalog_service_pb.js";
import { Ago, OnDate } from "../../parts/time.js";
import { documentOf } from "../../state/documents.js";
import { agentHref, hrefOf } from "../../state/route.js";
import { me } from "../../state/session.js";

const timeOf = (value: unknown) => (typeof value === "string" ? Date.parse(value) : undefined);

export function TokenRow({ token, onRevoke }: { token: GetResourceResponse; onRevoke: () => void }) {
  const document = documentOf(token.payload);
  const own = document.keyId === me.value?.keyId;
  return (
    <tr class={document.revoked ? "revoked" : ""}>
      <td data-label="Key">
        <a href={hrefOf("catalog", "token", token.name)}>{String(document.displayName || token.name)}</a>{" "}
        <span class="dim mono">{String(document.keyId ?? "")}</span>{" "}
        {own ? <span class="tag">this one</span> : null}
      </td>
      <td data-label="Acts as">{String(document.account ?? document.serviceProfile ?? "")}</td>
      <td data-label="May">
        {String(document.role || (document.scopes as string[] | undefined)?.join(", "))}
      </td>
      <td data-label="Last used">
        <Ago ms={timeOf(document.lastUsedAt)} />
      </td>
      <td data-label="Expires">
        {document.expiresAt === undefined ? "never" : <OnDate ms={timeOf(document.expiresAt)} />}
      </td>
      <td>{document.revoked ? "revoked" : <Revoke name={token.name} onRevoke={onRevoke} />}</td>
    </tr>
  );
}

export function LinkRow({ link, onRevoke }: { link: GetResourceResponse; onRevoke: () => void }) {
  const document = documentOf(link.payload);
  const agent = document.agentId as { agent?: string[]; uid?: string } | undefined;
  return (
    <tr class={document.revoked ? "revoked" : ""}>
      <td data-label="Link">
        <a href={hrefOf("catalog", "share-link", link.name)}>{String(document.displayName || link.name)}</a>
      </td>
      <td data-label="Shows">
        <a href={agentHref(agent?.uid ?? "")}>{agent?.agent?.join("/")}</a>
        {document.includeDescendants ? " and below" : ""}
      </td>
      <td data-label="Last used">
        <Ago ms={timeOf(document.lastUsedAt)} />
      </td>
      <td data-label="Expires">
        <OnDate ms={timeOf(document.expiresAt)} />
      </td>
      <td>{document.revoked ? "revoked" : <Revoke name={link.name} onRevoke={onRevoke} />}</td>
    </tr>
  );
}

function Revoke({ name, onRevoke }: { name: string; onRevoke: () => void }) {
  const [sure, setSure] = useState(false);
  return (
    <button
      type="button"
      class="link danger"
      aria-label={sure ? `Revoke ${name} for good` : `Revoke ${name}`}
      onBlur={() => setSure(false)}
      onClick={() => (sure ? onRevoke() : setSure(true))}
    >
      {sure ? "For good?" : "Revoke"}
    </button>
  );
}
