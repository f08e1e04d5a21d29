export interface CatalogKind {
  readonly name: string;
  readonly what: string;
  /** Scope without which not even its names are shown. */
  readonly needs: string;
  /** Whether people make documents of it. */
  readonly made: boolean;
  /** To begin with. */
  readonly draft: string;
}

/** The kinds of the catalog, in the order in which people meet them. The server has the last word on each. */
export const KINDS: readonly CatalogKind[] = [
  kind(
    "workspace",
    "Repositories, environment and defaults that agents work with.",
    "displayName: \nrepos: []\n",
  ),
  kind("persona", "Who an agent is: instructions, settings and a checklist.", "---\ndisplayName: \n---\n"),
  kind("environment", "How a checkout is made ready for work.", "variables: []\nsetupCommands: []\n"),
  kind("vm-profile", "What an agent's processes run in.", "sandbox: SANDBOX_BWRAP\n"),
  kind("pool-config", "How many agents run at once.", "slots: 4\n"),
  kind("model", "Names of models that agents can ask for.", "backend: BACKEND_A\n"),
  kind(
    "schedule",
    "Agents that are spawned, or messages that are sent, by the clock.",
    'cron: "0 7 * * 1-5"\nspawn:\n  description: \n',
  ),
  kind("integration", "Webhooks and code hosts.", "type: INTEGRATION_TYPE_WEBHOOK\nurl: https://\n"),
  { ...kind("service-profile", "Owners of agents that are no people.", "callers: []\n") },
  {
    ...kind("secret", "Values that documents refer to and nobody reads back.", "value: \n"),
    needs: "keys:manage",
  },
  { ...kind("token", "API keys.", "role: member\n"), needs: "keys:manage" },
  { ...kind("share-link", "Read-only links to agents.", ""), needs: "agents:message", made: false },
  { ...kind("change-request", "Writes that somebody proposed.", ""), made: false },
];

export function kindNamed(name: string): CatalogKind | undefined {
  return KINDS.find((each) => each.name === name);
}

function kind(name: string, what: string, draft: string): CatalogKind {
  return { name, what, needs: "catalog:read", made: true, draft };
}
