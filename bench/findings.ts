/** Something that was measured beside a throughput, with what is wanted of it. */
export interface Finding {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly digits?: number;
  /** At most so much; undefined: only shown. */
  readonly atMost?: number;
}

export function printFindings(title: string, findings: readonly Finding[]): void {
  const width = Math.max(...findings.map(({ name }) => name.length));
  console.log(`\n${title}`);
  for (const { name, value, unit, digits = 1, atMost } of findings) {
    const got = `${value.toFixed(digits)} ${unit}`.padEnd(14);
    const wanted =
      atMost === undefined ? "" : `wanted ≤ ${atMost} ${unit}  ${value <= atMost ? "ok" : "MISSED"}`;
    console.log(`${name.padEnd(width)}  ${got}  ${wanted}`.trimEnd());
  }
}
