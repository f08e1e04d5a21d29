import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  label: string;
  hint?: string | undefined;
  children: (id: string, describedBy: string | undefined) => ComponentChildren;
}

/** A label, a control and a word of help, tied together. */
export function Field({ label, hint, children }: FieldProps) {
  const id = useId();
  const hintId = hint === undefined ? undefined : `${id}-hint`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id, hintId)}
      {hint === undefined ? null : (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface TextProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: string;
  placeholder?: string;
  type?: string;
  options?: readonly string[];
  required?: boolean;
  mono?: boolean;
  step?: string;
}

/** One line of text; `options` are offered, not imposed. */
export function TextField({ label, value, onChange, hint, options, mono, ...input }: TextProps) {
  return (
    <Field label={label} hint={hint}>
      {(id, describedBy) => {
        // Which attributes go together depends on the type, which the caller chooses.
        const more = options === undefined ? input : { ...input, list: `${id}-options` };
        return (
          <>
            <input
              {...(more as { type: "text" })}
              id={id}
              class={mono ? "mono" : ""}
              aria-describedby={describedBy}
              value={value}
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => onChange(event.currentTarget.value)}
            />
            {options === undefined ? null : (
              <datalist id={`${id}-options`}>
                {options.map((option) => (
                  <option key={option} value={option} />
                ))}
              </datalist>
            )}
          </>
        );
      }}
    </Field>
  );
}

interface AreaProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: string;
  placeholder?: string;
  rows?: number;
  mono?: boolean;
  required?: boolean;
}

export function AreaField({ label, value, onChange, hint, mono, ...area }: AreaProps) {
  return (
    <Field label={label} hint={hint}>
      {(id, describedBy) => (
        <textarea
          id={id}
          class={mono ? "mono" : ""}
          aria-describedby={describedBy}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
          {...area}
        />
      )}
    </Field>
  );
}

interface SelectProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  options: readonly (readonly [value: string, label: string])[];
  hint?: string;
}

export function SelectField({ label, value, onChange, options, hint }: SelectProps) {
  return (
    <Field label={label} hint={hint}>
      {(id, describedBy) => (
        <select
          id={id}
          aria-describedby={describedBy}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
