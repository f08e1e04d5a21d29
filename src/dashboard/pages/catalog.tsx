import { useEffect, useState } from "preact/hooks";
import type { GetResourceResponse } from "../../../gen/retinue/v1/catalog_service_pb.js";
import { useAction } from "../parts/action.js";
import { Icon } from "../parts/icon.js";
import { Empty, Problem } from "../parts/notice.js";
import { OnDate } from "../parts/time.js";
import { documentOf, listDocuments } from "../state/documents.js";
import { hrefOf, parts } from "../state/route.js";
import { may } from "../state/session.js";
import { DocumentPage } from "./catalog/document.js";
import { KINDS, kindNamed } from "./catalog/kinds.js";

/** Documents by kind. */
export function CatalogPage() {
  const [, kind = "workspace", name] = parts.value;
  const known = kindNamed(kind);
  if (known === undefined) return <Empty title={`There is no kind ${kind}.`} />;
  return (
    <section class="page catalog" aria-labelledby="catalog-title">
      <header class="bar">
        <h1 id="catalog-title">
          {name === undefined ? (
            "Catalog"
          ) : (
            <>
              <span class="crumb">
                <a href={hrefOf("catalog", kind)}>{kind}</a> /{" "}
              </span>
              {name === "" ? "new" : name}
            </>
          )}
        </h1>
        {name === undefined && known.made ? (
          <a class="button primary" href={`${hrefOf("catalog", kind)}/new`}>
            <Icon name="plus" />
            New {kind}
          </a>
        ) : null}
      </header>
      {name === undefined ? (
        <>
          <nav class="filters" aria-label="Kinds">
            {KINDS.filter(({ needs }) => may(needs)).map((each) => (
              <a
                key={each.name}
                class="chip button"
                href={hrefOf("catalog", each.name)}
                aria-current={each.name === kind ? "page" : undefined}
              >
                {each.name}
              </a>
            ))}
          </nav>
          <p class="lead">{known.what}</p>
          <Documents key={kind} kind={kind} />
        </>
      ) : (
        <DocumentPage key={`${kind}/${name}`} kind={kind} name={name} />
      )}
    </section>
  );
}

function Documents({ kind }: { kind: string }) {
  const [found, setFound] = useState<readonly GetResourceResponse[]>();
  const load = useAction(async () => setFound(await listDocuments(kind)));
  useEffect(() => void load.run(), []);
  if (found?.length === 0) return <Empty title="There is none." />;
  return (
    <>
      <Problem text={load.problem} />
      <table class="list" aria-label={`Documents of kind ${kind}`}>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">What it is</th>
            <th scope="col">Generation</th>
            <th scope="col">Changed</th>
          </tr>
        </thead>
        <tbody>
          {found?.map((entry) => (
            <DocumentRow key={entry.name} kind={kind} entry={entry} />
          ))}
        </tbody>
      </table>
    </>
  );
}

function DocumentRow({ kind, entry }: { kind: string; entry: GetResourceResponse }) {
  const document = documentOf(entry.payload);
  const meta = document.meta as { updatedAt?: string; updatedBy?: string } | undefined;
  const about = [document.displayName, document.description, document.state].filter(Boolean).join(" · ");
  return (
    <tr>
      <td data-label="Name">
        <a href={hrefOf("catalog", kind, entry.name)}>{entry.name}</a>
      </td>
      <td data-label="What it is">{about}</td>
      <td data-label="Generation">
        {entry.generation === 0n ? <span class="tag">builtin</span> : String(entry.generation)}
      </td>
      <td data-label="Changed">
        <OnDate ms={meta?.updatedAt === undefined ? undefined : Date.parse(meta.updatedAt)} />{" "}
        <span class="dim">{meta?.updatedBy?.split("/").at(-1)}</span>
      </td>
    </tr>
  );
}
