import { DEFAULT_ENVIRONMENT, resolveCommand } from "../acp/environment.js";
import { probeBwrap } from "../acp/probe-bwrap.js";
import { type ConfiguredProfile, configuredProfiles, type ProgramsConfig } from "../profiles/programs.js";
import { versionOf } from "./version.js";

/** One thing that the service uses, and how it stands with it. */
export interface Finding {
  /** As on the command line: `node`, `git`, `bwrap`, `claude`, `codex`, or a custom agent. */
  readonly name: string;
  readonly title: string;
  /** `missing`: not installed. `problem`: installed, but of no use as it is. */
  readonly state: "ok" | "missing" | "problem";
  /** Whether the service itself cannot do without. */
  readonly required: boolean;
  readonly version: string;
  /** Where it was found; empty: nowhere. */
  readonly path: string;
  /** What is wrong or worth knowing, in one sentence; empty: nothing. */
  readonly note: string;
  /** What to do about it; empty: nothing. */
  readonly remedy: string;
}

const NODE_FLOOR = [20, 19];

/** Looks at everything that agents are run with. Nothing is changed, and no model is asked. */
export async function examine(config: ProgramsConfig): Promise<Finding[]> {
  return [
    nodeFinding(),
    await gitFinding(config.path),
    await bwrapFinding(config.path),
    ...(await Promise.all(configuredProfiles(config).map((one) => agentFinding(one, config)))),
  ];
}

function nodeFinding(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const [floorMajor = 0, floorMinor = 0] = NODE_FLOOR;
  const enough = major > floorMajor || (major === floorMajor && minor >= floorMinor);
  const advised = major >= 22 ? "" : "Node 20 gets no more fixes: 22.14 or newer is recommended";
  return {
    ...{
      name: "node",
      title: "Node.js",
      required: true,
      version: process.versions.node,
      path: process.execPath,
    },
    state: enough ? "ok" : "problem",
    note: enough ? advised : `older than ${NODE_FLOOR.join(".")}`,
    remedy: enough ? "" : "install Node 22 from https://nodejs.org",
  };
}

async function gitFinding(path: string): Promise<Finding> {
  const about = { name: "git", title: "git", required: true };
  const file = await resolveCommand("git", path).catch(() => "");
  if (file === "")
    return missing(about, "workspaces cannot be checked out", "install git with your system's packages");
  return {
    ...about,
    state: "ok",
    version: await versionOf(["git"], ["--version"], path),
    path: file,
    note: "",
    remedy: "",
  };
}

async function bwrapFinding(path: string): Promise<Finding> {
  const about = { name: "bwrap", title: "bubblewrap", required: false };
  const file = await resolveCommand("bwrap", path).catch(() => "");
  const without = "agents run without a sandbox, and see all that the server sees";
  if (file === "") return missing(about, without, "install bubblewrap with your system's packages");
  const version = await versionOf(["bwrap"], ["--version"], path);
  if ((await probeBwrap({ ...DEFAULT_ENVIRONMENT, PATH: path })) !== undefined) {
    return { ...about, state: "ok", version, path: file, note: "", remedy: "" };
  }
  const remedy =
    "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, or a container that may make them";
  return {
    ...about,
    state: "problem",
    version,
    path: file,
    note: `installed, but it does not work here: ${without}`,
    remedy,
  };
}

async function agentFinding(
  { profile, words, env }: ConfiguredProfile,
  config: ProgramsConfig,
): Promise<Finding> {
  const about = { name: profile.name, title: profile.title, required: false };
  const file = await resolveCommand(words[0] ?? "", config.path).catch(() => "");
  if (file === "") return missing(about, `${words[0]} was not found`, profile.install);
  const version = await versionOf(words, profile.versionArgs, config.path);
  const { credentials, testedVersion } = profile;
  if (credentials.length > 0 && !credentials.some((name) => env[name])) {
    const note = `nothing to reach its model with: none of ${credentials.join(", ")} is set`;
    return {
      ...about,
      state: "problem",
      version,
      path: file,
      note,
      remedy: `export ${credentials[0]}=… for the server`,
    };
  }
  const note = testedVersion === "" || version === testedVersion ? "" : `tested with ${testedVersion}`;
  return { ...about, state: "ok", version, path: file, note, remedy: "" };
}

function missing(about: Pick<Finding, "name" | "title" | "required">, note: string, remedy: string): Finding {
  return { ...about, state: "missing", version: "", path: "", note, remedy };
}
