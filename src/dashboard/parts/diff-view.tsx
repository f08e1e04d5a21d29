import { useMemo } from "preact/hooks";
import { diff } from "../text/diff.js";

const CLASSES = { "+": "added", "-": "removed", " ": "" } as const;

export function DiffView({ before, after, label }: { before: string; after: string; label: string }) {
  const lines = useMemo(() => diff(before, after), [before, after]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, by keyboard too
    <pre class="diff" tabIndex={0} role="group" aria-label={label}>
      {lines.map(({ sign, text }, i) => (
        <div key={`${i}${sign}`} class={CLASSES[sign]}>
          {sign} {text}
        </div>
      ))}
    </pre>
  );
}
