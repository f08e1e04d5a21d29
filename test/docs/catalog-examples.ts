import type { JsonObject } from "@bufbuild/protobuf";

/** A document of a kind as somebody would write it, and what must be there before it. */
export interface Example {
  readonly name: string;
  readonly document: JsonObject;
  /** Documents that it names, `kind/name`. */
  readonly needs?: Readonly<Record<string, JsonObject>>;
  /** Agents that it names. */
  readonly agents?: readonly string[];
}

export const EXAMPLES: Readonly<Record<string, Example>> = {
  workspace: {
    name: "shop",
    document: {
      displayName: "Web shop",
      default: true,
      repos: [{ name: "shop", url: "https://git.example.com/acme/shop.git", baseBranch: "main" }],
      environment: "node",
      agent: "reviewer",
      settings: { model: "script-a", reasoningEffort: "high" },
    },
    needs: { "environment/node": {}, "persona/reviewer": {} },
  },
  persona: {
    name: "reviewer",
    document: {
      displayName: "Reviewer",
      instructions: "You review changes. Be kind and precise.",
      settings: { reasoningEffort: "high" },
      tasks: [{ id: "tests", subject: "Run the tests" }],
    },
  },
  environment: {
    name: "node",
    document: {
      description: "Node 22 with the shop's database",
      variables: [
        { name: "NODE_ENV", value: "test" },
        { name: "DATABASE_URL", secret: "database-url" },
      ],
      setupCommands: [{ name: "Install", run: "npm ci", timeout: "600s" }],
      vmProfile: "small",
    },
    needs: { "secret/database-url": { value: "postgres://…" }, "vm-profile/small": {} },
  },
  "vm-profile": {
    name: "small",
    document: {
      sandbox: "SANDBOX_BWRAP",
      network: "NETWORK_ACCESS_FULL",
      memoryMib: "2048",
      maxProcesses: 256,
    },
  },
  "pool-config": { name: "default", document: { slots: 16, slotsPerAccount: 8 } },
  model: {
    name: "fast-model",
    document: {
      displayName: "Fast",
      backend: "BACKEND_B",
      modelId: "gpt-5-mini",
      prices: { input: 0.25, output: 2 },
    },
  },
  "service-profile": {
    name: "nightly",
    document: {
      description: "Owns what runs at night",
      callers: ["codehost_oauth/admin", "codehost_oauth/alice"],
    },
  },
  schedule: {
    name: "link-check",
    document: {
      cron: "0 2 * * 1-5",
      timeZone: "Europe/Berlin",
      overlapPolicy: "OVERLAP_POLICY_SKIP",
      missedRunPolicy: "MISSED_RUN_POLICY_ONCE",
      spawn: { workspace: "default", description: "Look for broken links.", budget: { maxCostUsd: 5 } },
    },
  },
  secret: {
    name: "database-url",
    document: { description: "The shop's test database", value: "postgres://…" },
  },
  token: { name: "ci", document: { displayName: "CI", role: "member", expiresAt: "2999-01-01T00:00:00Z" } },
  "share-link": {
    name: "painter",
    document: { agentId: { agent: ["painter"] }, access: "SHARE_ACCESS_TIMELINE", includeDescendants: true },
    agents: ["painter"],
  },
  integration: {
    name: "chat",
    document: {
      type: "INTEGRATION_TYPE_WEBHOOK",
      url: "https://chat.example.com/hooks/retinue",
      events: ["EVENT_TYPE_INPUT_REQUESTED", "EVENT_TYPE_PHASE_CHANGED"],
      workspaces: ["default"],
    },
  },
};
