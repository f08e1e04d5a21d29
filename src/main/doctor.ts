import { examine, type Finding } from "../runner/doctor/examine.js";
import type { ProgramsConfig } from "../runner/profiles/programs.js";

/** Says what agents can be run with on this machine. Fails where the service itself lacks something. */
export async function doctor(config: ProgramsConfig, format: "text" | "json"): Promise<void> {
  const findings = await examine(config);
  if (format === "json") console.log(JSON.stringify({ findings }, null, 2));
  else for (const line of findings.flatMap(linesOf)) console.log(line);
  if (findings.some(({ required, state }) => required && state !== "ok")) process.exitCode = 1;
}

function linesOf({ state, name, title, version, path, note, remedy }: Finding): string[] {
  const found = [version, path === "" ? "" : `(${path})`].filter((part) => part !== "").join(" ");
  const line = `${state.padEnd(8)}${name.padEnd(10)}${[title, found].filter((part) => part !== "").join("  ")}`;
  return [
    line,
    ...[note, remedy && `to mend it: ${remedy}`].flatMap((more) => (more ? [`        ${more}`] : [])),
  ];
}
