// Turns screens of a terminal into one SVG that plays them: a strip of frames that moves up, one at a time.
const CHARACTER = 8.4;
const LINE = 18;
const MARGIN = 14;
const COLOURS = {
  1: "font-weight:bold",
  2: "fill:#8b949e",
  31: "fill:#ff7b72",
  32: "fill:#7ee787",
  33: "fill:#f2cc60",
  34: "fill:#79c0ff",
  35: "fill:#d2a8ff",
  36: "fill:#56d4dd",
};

/** Frames are `{ cells, ms }`; rows that come again are drawn once. */
export function filmSvg(frames, rows, columns) {
  const width = Math.ceil(columns * CHARACTER + 2 * MARGIN);
  const height = rows * LINE + 2 * MARGIN;
  const drawn = new Map();
  const strip = frames.map(({ cells }, at) => {
    const uses = cells.flatMap((line, row) => {
      const text = rowSvg(line);
      if (text === "") return [];
      if (!drawn.has(text)) drawn.set(text, `r${drawn.size}`);
      return [`<use href="#${drawn.get(text)}" y="${at * height + MARGIN + (row + 1) * LINE - 5}"/>`];
    });
    return uses.join("");
  });
  const whole = frames.reduce((sum, { ms }) => sum + ms, 0);
  let passed = 0;
  const steps = frames.map(({ ms }, at) => {
    const percent = ((passed / whole) * 100).toFixed(3);
    passed += ms;
    return `${percent}%{transform:translateY(-${at * height}px)}`;
  });
  const last = `transform:translateY(-${(frames.length - 1) * height}px)`;
  const definitions = [...drawn].map(([text, id]) => `<g id="${id}">${text}</g>`).join("\n");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A terminal session with retinue">
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#e6edf3;white-space:pre}
.film{animation:film ${(whole / 1000).toFixed(1)}s step-end infinite}
@keyframes film{${steps.join("")}100%{${last}}}
@media (prefers-reduced-motion:reduce){.film{animation:none;${last}}}
</style>
<defs>
${definitions}
</defs>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g class="film">
${strip.join("\n")}
</g>
</svg>
`;
}

/** A row as pieces of one colour, each at its own place: fonts differ in how wide they draw what is not a letter. */
function rowSvg(line) {
  const pieces = [];
  line.forEach(({ character, style }, column) => {
    const piece = pieces.at(-1);
    const plain = /^[\x20-\x7e]$/.test(character);
    if (piece?.style === style && piece.plain && plain) piece.text += character;
    else pieces.push({ text: character, style, column, plain });
  });
  return pieces
    .filter(({ text }) => text.trim() !== "")
    .map(({ text, style, column }) => {
      const x = (MARGIN + column * CHARACTER).toFixed(1);
      const length = (text.length * CHARACTER).toFixed(1);
      return `<text x="${x}" textLength="${length}" style="${COLOURS[style] ?? ""}">${escaped(text)}</text>`;
    })
    .join("");
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
