const PATHS = {
  chevron: "M6 4l4 4-4 4",
  plus: "M8 3v10M3 8h10",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM11 11l3 3",
  close: "M4 4l8 8M12 4l-8 8",
  stop: "M5 5h6v6H5z",
  kill: "M8 2v5M4.5 4.5a5 5 0 1 0 7 0",
  send: "M2.5 8h10M8.5 4l4 4-4 4",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 5v3l2 1.5",
  check: "M3 8.5l3.2 3.2L13 5",
  copy: "M6 6h7v7H6zM3 10V3h7",
  tool: "M9.5 2.8a3.4 3.4 0 0 0-3.9 4.6L2.5 10.5l3 3 3.1-3.1a3.4 3.4 0 0 0 4.6-3.9L11 8.7 8.3 8 7.5 5z",
  branch: "M5 3v10M5 10c0-3 6-2 6-5M11 5V3",
  share: "M8 10V2M5 4.5 8 2l3 2.5M4 8H3v6h10V8h-1",
  agents:
    "M8 6a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM3.5 14a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6zM12.5 14a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6zM8 6v2.5L4 10.5M8 8.5l4 2",
  inbox: "M2 9l2-6h8l2 6v4H2zM2 9h4l1 2h2l1-2h4",
  catalog: "M3 3h10v3H3zM3 8h10v5H3zM6 10.5h4",
  pools: "M2 12h3V7H2zM6.5 12h3V3h-3zM11 12h3V9h-3z",
  keys: "M10.5 8.5a3 3 0 1 0-3-3L2.5 10.5V13H5l.5-1.5H7V10l1.5-1.5z",
  audit: "M4 2h8v12H4zM6 5h4M6 8h4M6 11h2",
  theme: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 2v12",
  out: "M6 3H3v10h3M7 8h6M10.5 5.5 13 8l-2.5 2.5",
  list: "M5.5 4H14M5.5 8H14M5.5 12H14M2.5 4h.01M2.5 8h.01M2.5 12h.01",
} as const;

export type IconName = keyof typeof PATHS;

/** A small drawing beside a word; alone it needs a label on what holds it. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
