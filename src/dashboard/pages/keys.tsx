import { useEffect, useState } from "preact/hooks";
import type { GetResourceResponse } from "../../../gen/retinue/v1/catalog_service_pb.js";
import { useAction } from "../parts/action.js";
import { Icon } from "../parts/icon.js";
import { Empty, Problem, tell, tellError } from "../parts/notice.js";
import { listDocuments, writeDocument } from "../state/documents.js";
import { NewKey } from "./keys/new-key.js";
import { LinkRow, TokenRow } from "./keys/rows.js";

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
