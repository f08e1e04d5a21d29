import { useSignal } from "@preact/signals";
import { useAction } from "../../parts/action.js";
import { Problem, tell } from "../../parts/notice.js";
import { catalog } from "../../state/api.js";
import { go, hrefOf } from "../../state/route.js";

interface RemoveProps {
  kind: string;
  name: string;
  generation: bigint;
  justification: string;
}

/** Deletes a document, asked twice, under the generation that was shown. */
export function Remove({ kind, name, generation, justification }: RemoveProps) {
  const sure = useSignal(false);
  const remove = useAction(async () => {
    await catalog.deleteResource({ ref: { kind, name }, ifGenerationMatch: generation, justification });
    tell(`Deleted ${kind}/${name}.`);
    go(hrefOf("catalog", kind));
  });
  const click = () => {
    if (!sure.value) sure.value = true;
    else void remove.run();
  };
  if (generation === 0n) return null;
  return (
    <>
      <Problem text={remove.problem} />
      <button type="button" class="danger" disabled={remove.busy} onClick={click}>
        {sure.value ? "Delete for good?" : "Delete"}
      </button>
    </>
  );
}
