import { useEffect, useState } from "preact/hooks";
import type { InputFormat } from "../../../../gen/retinue/v1/catalog_pb.js";
import type { ResourceVersion } from "../../../../gen/retinue/v1/catalog_service_pb.js";
import { useAction } from "../../parts/action.js";
import { DiffView } from "../../parts/diff-view.js";
import { Problem } from "../../parts/notice.js";
import { Section } from "../../parts/section.js";
import { OnDate } from "../../parts/time.js";
import { catalog } from "../../state/api.js";
import { documentOf } from "../../state/documents.js";
import { textOf } from "../../text/document-text.js";
import { msOf } from "../../text/format.js";

interface HistoryProps {
  kind: string;
  name: string;
  format: InputFormat;
  onRestore: (text: string) => void;
}

/** Who changed it when, why, and what. */
export function History({ kind, name, format, onRestore }: HistoryProps) {
  const [versions, setVersions] = useState<readonly ResourceVersion[]>([]);
  const [next, setNext] = useState("");
  const load = useAction(async (pageToken: string) => {
    const page = await catalog.listResourceVersions({ ref: { kind, name }, pageSize: 50, pageToken });
    setVersions((before) => [...before, ...page.versions]);
    setNext(page.nextPageToken);
  });
  useEffect(() => void load.run(""), []);
  const textAt = (version: ResourceVersion | undefined) =>
    version === undefined || version.deleted ? "" : textOf(documentOf(version.payload), format);

  return (
    <Section title="History" extra={versions.length === 0 ? undefined : versions.length}>
      <Problem text={load.problem} />
      <ol class="history">
        {versions.map((version, i) => (
          <li key={String(version.generation)}>
            <details open={i === 0}>
              <summary>
                <strong>{String(version.generation)}</strong>
                {version.deleted ? <span class="failed">deleted</span> : null}
                <span>{version.actor.split("/").at(-1)}</span>
                <span class="dim">
                  <OnDate ms={msOf(version.time)} />
                </span>
                {version.justification === "" ? null : <span>“{version.justification}”</span>}
              </summary>
              <DiffView
                before={textAt(versions[i + 1])}
                after={textAt(version)}
                label={`What generation ${version.generation} changed`}
              />
              {i === 0 || version.deleted ? null : (
                <button type="button" class="link" onClick={() => onRestore(textAt(version))}>
                  Put this text into the editor
                </button>
              )}
            </details>
          </li>
        ))}
      </ol>
      {next === "" ? null : (
        <button type="button" class="link" onClick={() => load.run(next)}>
          Show earlier
        </button>
      )}
    </Section>
  );
}
