import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { InputFormat } from "../../../../gen/retinue/v1/catalog_pb.js";
import { useAction } from "../../parts/action.js";
import { Field, TextField } from "../../parts/field.js";
import { Problem, tell } from "../../parts/notice.js";
import { Once } from "../../parts/once.js";
import { catalog, reasonOf } from "../../state/api.js";
import { type Document, documentOf, writeDocument } from "../../state/documents.js";
import { go, hrefOf } from "../../state/route.js";
import { may } from "../../state/session.js";
import { documentFrom, textOf } from "../../text/document-text.js";
import { Conflict } from "./conflict.js";
import { Decide } from "./decide.js";
import { History } from "./history.js";
import { kindNamed } from "./kinds.js";
import { Remove } from "./remove.js";

interface Loaded {
  readonly text: string;
  readonly document: Document;
  readonly generation: bigint;
  readonly format: InputFormat;
}

/** Secrets that an answer holds once, by kind. */
const ONCE: Readonly<Record<string, { readonly field: string; readonly title: string }>> = {
  token: { field: "key", title: "API key" },
  "share-link": { field: "url", title: "Link" },
  integration: { field: "signingSecret", title: "Signing secret" },
};

/** One document: read, changed under the condition that nobody else has changed it, and its history. */
export function DocumentPage({ kind, name }: { kind: string; name: string }) {
  const making = name === "new";
  const format = kind === "persona" ? InputFormat.MARKDOWN : InputFormat.YAML;
  const draft: Loaded = { text: kindNamed(kind)?.draft ?? "", document: {}, generation: 0n, format };
  const loaded = useSignal<Loaded | undefined>(making ? draft : undefined);
  const theirs = useSignal<Loaded | undefined>(undefined);
  const text = useSignal(draft.text);
  const newName = useSignal("");
  const why = useSignal("");
  const secret = useSignal("");
  const version = useSignal(0);

  const read = async (): Promise<Loaded> => {
    const { payload, generation, inputFormat } = await catalog.getResource({ ref: { kind, name } });
    const document = documentOf(payload);
    return { document, generation, format: inputFormat, text: textOf(document, inputFormat) };
  };
  const show = (next: Loaded) => {
    loaded.value = next;
    text.value = next.text;
    theirs.value = undefined;
    version.value++;
  };
  const load = useAction(async () => show(await read()));
  useEffect(() => {
    if (!making) void load.run();
  }, []);

  const save = useAction(async (generation: bigint) => {
    const target = making ? newName.value.trim() : name;
    try {
      const written = await writeDocument({
        kind,
        name: target,
        document: documentFrom(text.value, loaded.value?.format ?? format),
        ifGenerationMatch: generation,
        justification: why.value,
      });
      why.value = "";
      const once = ONCE[kind];
      secret.value = once === undefined ? "" : String(written.document[once.field] ?? "");
      if (written.generation === 0n) return proposed(written.document);
      tell(`Saved as generation ${written.generation}.`);
      if (!making) await load.run();
      else if (secret.value === "") go(hrefOf("catalog", kind, target), { replace: true });
    } catch (error) {
      if (reasonOf(error) !== "GENERATION_MISMATCH" || making) throw error;
      theirs.value = await read();
    }
  });
  const proposed = (record: Document) => {
    tell("You may propose, not write: a change request was made.");
    go(hrefOf("catalog", "change-request", String(record.name)));
  };

  if (loaded.value === undefined) return <Problem text={load.problem} />;
  const { generation } = loaded.value;
  const decided = kind === "change-request";
  return (
    <div class="document">
      <form
        class="sheet"
        onSubmit={(event) => {
          event.preventDefault();
          void save.run(generation);
        }}
      >
        {making ? (
          <TextField
            label="Name"
            value={newName.value}
            onChange={(value) => {
              newName.value = value;
            }}
            required
            mono
          />
        ) : (
          <p class="dim">
            {decided
              ? ""
              : generation === 0n
                ? "Builtin: saving stores generation 1."
                : `Generation ${generation}.`}
            {decided ? "" : " Saving succeeds only if nobody has changed it meanwhile."}
          </p>
        )}
        <Field label={loaded.value.format === InputFormat.MARKDOWN ? "Markdown with front matter" : "YAML"}>
          {(id) => (
            <textarea
              id={id}
              class="mono editor"
              rows={18}
              spellcheck={false}
              readOnly={decided}
              value={text.value}
              onInput={(event) => {
                text.value = event.currentTarget.value;
              }}
            />
          )}
        </Field>
        <Problem text={save.problem || load.problem} />
        {theirs.value === undefined ? null : (
          <Conflict
            mine={text.value}
            theirs={theirs.value}
            onTake={() => theirs.value && show(theirs.value)}
            onOverwrite={() => theirs.value && save.run(theirs.value.generation)}
          />
        )}
        {decided ? (
          <Decide name={name} document={loaded.value.document} onDecided={() => void load.run()} />
        ) : (
          <footer>
            <TextField
              label="Why"
              value={why.value}
              onChange={(value) => {
                why.value = value;
              }}
              placeholder="for the audit log"
            />
            {making ? null : (
              <Remove kind={kind} name={name} generation={generation} justification={why.value} />
            )}
            <button type="submit" class="primary" disabled={save.busy}>
              {may("catalog:write") || kind === "token" ? "Save" : "Propose"}
            </button>
          </footer>
        )}
      </form>
      {making || generation === 0n ? null : (
        <History
          key={version.value}
          kind={kind}
          name={name}
          format={loaded.value.format}
          onRestore={(old) => {
            text.value = old;
          }}
        />
      )}
      {secret.value === "" ? null : (
        <Once
          title={ONCE[kind]?.title ?? "Secret"}
          secret={secret.value}
          onClose={() => {
            secret.value = "";
            if (making) go(hrefOf("catalog", kind, newName.value.trim()), { replace: true });
          }}
        />
      )}
    </div>
  );
}
