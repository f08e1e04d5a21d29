import { THEMES, theme } from "../state/theme.js";
import { Icon } from "./icon.js";

/** As the system has it, light, dark, and round again. */
export function ThemeSwitch() {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "system";
  return (
    <button
      type="button"
      class="plain icon-only"
      aria-label={`Theme: ${theme.value}. Change to ${next}`}
      title={`Theme: ${theme.value}`}
      onClick={() => {
        theme.value = next;
      }}
    >
      <Icon name="theme" />
    </button>
  );
}
