import { create } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import {
  InputFormat,
  type Repo,
  type Workspace,
  WorkspaceSchema,
} from "../../../../gen/retinue/v1/catalog_pb.js";
import { permissionViolation } from "../../agent/permission.js";
import type { FieldViolation } from "../../fault.js";
import { nameViolation } from "../../name.js";
import type { Kind } from "../kind.js";
import {
  describedViolations,
  found,
  optionalNameViolation,
  repeatViolations,
  violation,
} from "./field-rules.js";
import { gitUrlViolation } from "./git-address.js";
import { gitBranchViolation } from "./git-branch.js";
import { namedDocument } from "./named-document.js";
import { settingViolations } from "./setting-defaults.js";

const ALLOW_MAX = 100;

const KEEP_MAX_MS = 315_360_000_000;

export const workspace: Kind<Workspace> = {
  name: "workspace",
  schema: WorkspaceSchema,
  inputFormat: InputFormat.YAML,
  readScope: "catalog:read",
  writeScope: "catalog:write",
  proposable: true,
  // Not `default: true`: the builtin is what is left when no document says so.
  builtins: new Map([
    [
      "default",
      create(WorkspaceSchema, {
        displayName: "Default",
        description:
          "No repositories; used when a spawn names no workspace and the tenant has none to select.",
      }),
    ],
  ]),
  serverSet: [],
  references: ({ environment, agent, pool }) => [
    ...namedDocument("environment", "environment", environment),
    ...namedDocument("agent", "persona", agent),
    ...namedDocument("pool", "pool-config", pool),
  ],
  validate: (document) => [
    ...describedViolations(document),
    ...document.repos.flatMap(repoViolations),
    ...repeatViolations(
      document.repos.map((repo) => repo.name),
      (index) => `repos[${index}].name`,
    ),
    ...found(
      optionalNameViolation("environment", document.environment),
      optionalNameViolation("agent", document.agent),
      optionalNameViolation("pool", document.pool),
    ),
    ...settingViolations(document.settings),
    ...found(keepViolation(document)),
    ...allowViolations(document.permissions?.allow ?? []),
  ],
};

function allowViolations(entries: readonly string[]): FieldViolation[] {
  const field = "permissions.allow";
  if (entries.length > ALLOW_MAX) {
    return [{ field, description: `at most ${ALLOW_MAX} entries, these are ${entries.length}` }];
  }
  return entries.flatMap((entry, index) =>
    found(violation(`${field}[${index}]`, permissionViolation(entry))),
  );
}

function keepViolation({ keepFiles }: Workspace): FieldViolation | undefined {
  if (keepFiles === undefined) return undefined;
  const ms = durationMs(keepFiles);
  if (ms >= 0 && ms <= KEEP_MAX_MS) return undefined;
  return { field: "keepFiles", description: 'must be from "0s" to ten years, "315360000s"' };
}

function repoViolations(repo: Repo, index: number): FieldViolation[] {
  const field = `repos[${index}]`;
  return found(
    nameViolation(`${field}.name`, repo.name),
    violation(`${field}.url`, gitUrlViolation(repo.url)),
    violation(`${field}.baseBranch`, gitBranchViolation(repo.baseBranch)),
  );
}
