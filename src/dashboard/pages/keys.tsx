import { useEffect, useState } from "preact/hooks";
import type { GetResourceResponse } from "../../../gen/retinue/v1/catalog_service_pb.js";
import { useAction } from "../parts/action.js";
import { Dialog } from "../parts/dialog.js";
import { SelectField, TextField } from "../parts/field.js";
import { Icon } from "../parts/icon.js";
import { Empty, Problem, tell, tellError } from "../parts/notice.js";
import { Once } from "../parts/once.js";
import { Ago, OnDate } from "../parts/time.js";
import { documentOf, listDocuments, writeDocument } from "../state/documents.js";
import { agentHref, hrefOf } from "../state/route.js";
import { me } from "../state/session.js";

const ROLES = ["viewer", "member", "operator", "admin", "runner"];

/** Keys and shared links: who may do what, for how long, and when it was last used. */
export function KeysPage() {
  const [tokens, setTokens] = useState<readonly GetResourceResponse[]>();
  const [links, setLinks] = useState<readonly GetResourceResponse[]>([]);
  const [making, setMaking] = useState(false);
  const load = useAction(async () => {
    setTokens(await listDocuments("token"));
    setLinks(await listDocuments("share-link"));
  });
  useEffect(() => void load.run(), []);
  const revoke = async ({ kind, name }: GetResourceResponse) => {
    await writeDocument({ kind, name, document: { revoked: true }, updateMask: ["revoked"] });
    tell(`${name} does not work any more.`);
    await load.run();
  };
  return (
    <section class="page" aria-labelledby="keys-title">
      <header class="bar">
        <h1 id="keys-title">Keys</h1>
        <button type="button" class="primary" onClick={() => setMaking(true)}>
          <Icon name="plus" />
          New key
        </button>
      </header>
      <Problem text={load.problem} />
      <table class="list" aria-label="Keys">
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Acts as</th>
            <th scope="col">May</th>
            <th scope="col">Last used</th>
            <th scope="col">Expires</th>
            <th scope="col">
              <span class="hidden">Do</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {tokens?.map((token) => (
            <TokenRow key={token.name} token={token} onRevoke={() => void revoke(token).catch(tellError)} />
          ))}
        </tbody>
      </table>
      {links.length === 0 ? null : (
        <>
          <h2 class="sub">Shared links</h2>
          <table class="list" aria-label="Shared links">
            <thead>
              <tr>
                <th scope="col">Link</th>
                <th scope="col">Shows</th>
                <th scope="col">Last used</th>
                <th scope="col">Expires</th>
                <th scope="col">
                  <span class="hidden">Do</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {links.map((link) => (
                <LinkRow key={link.name} link={link} onRevoke={() => void revoke(link).catch(tellError)} />
              ))}
            </tbody>
          </table>
        </>
      )}
      {tokens?.length === 0 ? <Empty title="There is no key." /> : null}
      {making ? (
        <NewKey
          onClose={() => {
            setMaking(false);
            void load.run();
          }}
        />
      ) : null}
    </section>
  );
}

const timeOf = (value: unknown) => (typeof value === "string" ? Date.parse(value) : undefined);

function TokenRow({ token, onRevoke }: { token: GetResourceResponse; onRevoke: () => void }) {
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

function LinkRow({ link, onRevoke }: { link: GetResourceResponse; onRevoke: () => void }) {
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

function NewKey({ onClose }: { onClose: () => void }) {
  const [form, setForm] = useState({ name: "", account: "", role: "member", days: "" });
  const [key, setKey] = useState("");
  const set = (field: keyof typeof form) => (value: string) => setForm({ ...form, [field]: value });
  const make = useAction(async () => {
    const { document } = await writeDocument({
      kind: "token",
      name: form.name.trim(),
      document: {
        ...(form.account === "" ? {} : { account: form.account }),
        role: form.role,
        ...(form.days === ""
          ? {}
          : { expiresAt: new Date(Date.now() + Number(form.days) * 86_400_000).toISOString() }),
      },
      ifGenerationMatch: 0n,
    });
    setKey(String(document.key ?? ""));
  });
  if (key !== "") return <Once title="API key" secret={key} onClose={onClose} />;
  return (
    <Dialog title="New key" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void make.run();
        }}
      >
        <TextField label="Name" value={form.name} onChange={set("name")} required mono />
        <div class="columns">
          <TextField
            label="Account"
            value={form.account}
            onChange={set("account")}
            placeholder={me.value?.account ?? ""}
          />
          <SelectField
            label="Role"
            value={form.role}
            onChange={set("role")}
            options={ROLES.map((r) => [r, r])}
          />
          <TextField
            label="Days"
            type="number"
            value={form.days}
            onChange={set("days")}
            placeholder="no end"
          />
        </div>
        <Problem text={make.problem} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={make.busy}>
            Make the key
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
