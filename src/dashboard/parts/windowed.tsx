import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** Rows beyond the edges, so that a quick scroll does not show a gap. */
const MARGIN = 8;

interface WindowedProps<T> {
  items: readonly T[];
  rowHeight: number;
  /** Kept in view when it changes. */
  active: number;
  render: (item: T, index: number) => ComponentChildren;
}

/** A list of equal rows, of which only those in view are in the document: thousands cost what thirty do. */
export function Windowed<T>({ items, rowHeight, active, render }: WindowedProps<T>) {
  const frame = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });

  useLayoutEffect(() => {
    const element = frame.current as HTMLDivElement;
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const resized = new ResizeObserver(measure);
    resized.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, []);

  useEffect(() => {
    const element = frame.current;
    if (!element || active < 0) return;
    const top = active * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = top + rowHeight - element.clientHeight;
  }, [active, rowHeight]);

  const first = Math.max(0, Math.floor(view.top / rowHeight) - MARGIN);
  const last = Math.min(items.length, Math.ceil((view.top + view.height) / rowHeight) + MARGIN);
  return (
    <div class="windowed" ref={frame} role="presentation">
      <div class="extent" role="presentation" style={{ height: `${items.length * rowHeight}px` }}>
        <div role="presentation" style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {items.slice(first, last).map((item, i) => render(item, first + i))}
        </div>
      </div>
    </div>
  );
}
