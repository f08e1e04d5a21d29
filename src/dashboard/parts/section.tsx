import type { ComponentChildren } from "preact";

interface SectionProps {
  title: string;
  extra?: ComponentChildren;
  children: ComponentChildren;
}

export function Section({ title, extra, children }: SectionProps) {
  return (
    <section class="section">
      <header>
        <h2>{title}</h2>
        {extra === undefined ? null : <span class="dim">{extra}</span>}
      </header>
      {children}
    </section>
  );
}
