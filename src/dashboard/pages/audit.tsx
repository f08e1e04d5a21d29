import { useEffect, useState } from "preact/hooks";
import { AuditOutcome, type AuditRecord } from "../../../gen/retinue/v1/audit_service_pb.js";
import { useAction } from "../parts/action.js";
import { TextField } from "../parts/field.js";
import { Empty, Problem } from "../parts/notice.js";
import { OnDate } from "../parts/time.js";
import { audit } from "../state/api.js";
import { msOf } from "../text/format.js";

const NO_FILTER = { actor: "", action: "", target: "" };

/** Who did what, when and why. */
export function AuditPage() {
  const [filter, setFilter] = useState(NO_FILTER);
  const [records, setRecords] = useState<readonly AuditRecord[]>();
  const [next, setNext] = useState("");
  const load = useAction(async (pageToken: string) => {
    const page = await audit.listAuditRecords({ ...filter, pageSize: 100, pageToken });
    setRecords((before) => (pageToken === "" ? page.records : [...(before ?? []), ...page.records]));
    setNext(page.nextPageToken);
  });
  useEffect(() => void load.run(""), []);
  const set = (name: keyof typeof NO_FILTER) => (text: string) =>
    setFilter({ ...filter, [name]: text.trim() });

  return (
    <section class="page" aria-labelledby="audit-title">
      <header class="bar">
        <h1 id="audit-title">Audit</h1>
      </header>
      <form
        class="bar filter-form"
        onSubmit={(event) => {
          event.preventDefault();
          void load.run("");
        }}
      >
        <TextField
          label="Actor"
          value={filter.actor}
          onChange={set("actor")}
          placeholder="codehost_oauth/admin"
        />
        <TextField
          label="Action"
          value={filter.action}
          onChange={set("action")}
          placeholder="CatalogService/PutResource"
        />
        <TextField
          label="Target"
          value={filter.target}
          onChange={set("target")}
          placeholder="workspace/main"
        />
        <button type="submit" disabled={load.busy}>
          Filter
        </button>
      </form>
      <Problem text={load.problem} />
      {records?.length === 0 ? <Empty title="No record fits." /> : <Records records={records ?? []} />}
      {next === "" ? null : (
        <p class="more-row">
          <button type="button" disabled={load.busy} onClick={() => load.run(next)}>
            Show more
          </button>
        </p>
      )}
    </section>
  );
}

function Records({ records }: { records: readonly AuditRecord[] }) {
  return (
    <table class="list">
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">Who</th>
          <th scope="col">What</th>
          <th scope="col">To what</th>
          <th scope="col">Generation</th>
          <th scope="col">Why</th>
        </tr>
      </thead>
      <tbody>
        {records.map((record) => (
          <tr key={record.auditId}>
            <td data-label="When">
              <OnDate ms={msOf(record.time)} />
            </td>
            <td data-label="Who">
              <span title={`${record.actor}, key ${record.keyId}`}>{record.actor.split("/").at(-1)}</span>
            </td>
            <td data-label="What">
              {record.action.replace(/^\w+Service\//, "")}
              {record.outcome === AuditOutcome.REFUSED ? <span class="failed"> refused</span> : null}
            </td>
            <td data-label="To what" class="mono">
              {record.target}
            </td>
            <td data-label="Generation">
              {record.generationAfter === 0n ? "" : `${record.generationBefore} → ${record.generationAfter}`}
            </td>
            <td data-label="Why">{record.justification}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
