import { effect, signal } from "@preact/signals";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const NAME = "retinue.theme";
const stored = localStorage.getItem(NAME) as Theme | null;

export const theme = signal<Theme>(stored && THEMES.includes(stored) ? stored : "system");

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(NAME, theme.value);
});
