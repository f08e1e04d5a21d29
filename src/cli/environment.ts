/** What the environment tells the command line. */
export interface Environment {
  /** Address and key of a server: win over contexts. */
  readonly url: string | undefined;
  readonly key: string | undefined;
  readonly context: string | undefined;
  /** Where a server on this machine listens and keeps its data, as `retinue serve` would take it. */
  readonly port: string | undefined;
  readonly data: string | undefined;
  /** Folder of all programs' configuration. */
  readonly configHome: string;
  readonly editor: string;
  readonly noColor: boolean;
}

/** The one place of the command line that reads the environment. An empty variable counts as not set. */
export function readEnvironment(): Environment {
  const variable = (name: string) => process.env[name] || undefined;
  return {
    url: variable("RETINUE_URL"),
    key: variable("RETINUE_KEY"),
    context: variable("RETINUE_CONTEXT"),
    port: variable("RETINUE_PORT"),
    data: variable("RETINUE_DATA"),
    configHome: variable("XDG_CONFIG_HOME") ?? `${variable("HOME") ?? "."}/.config`,
    editor: variable("VISUAL") ?? variable("EDITOR") ?? "vi",
    noColor: variable("NO_COLOR") !== undefined || variable("TERM") === "dumb",
  };
}
