/** `team=garden stage=test` → the labels; a word without `=` is a label with an empty value. */
export function labelsOf(text: string): Record<string, string> {
  const pairs = text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((pair) => {
      const [name = "", ...value] = pair.split("=");
      return [name, value.join("=")] as const;
    });
  return Object.fromEntries(pairs);
}
