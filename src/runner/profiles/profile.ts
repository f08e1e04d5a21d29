import type { AgentProgram } from "../runner.js";

/** A kind of agent program that operators install: everything the service knows of it, as data. */
export interface AgentProfile {
  /** How it is called in documents and on the command line. */
  readonly name: string;
  readonly title: string;
  /** Started when nothing else is configured; the first word is looked for in PATH. */
  readonly command: readonly string[];
  /** Asks for its version, in place of the other arguments. */
  readonly versionArgs: readonly string[];
  /** The version that the tests drive. */
  readonly testedVersion: string;
  /** A command line that installs it. */
  readonly install: string;
  /** Variables of the server's own environment that it is given where they are set: how it reaches its model. */
  readonly variables: readonly string[];
  /** Of these one has to be set, or it cannot reach its model; empty: not known. */
  readonly credentials: readonly string[];
  program(launch: ProgramLaunch): AgentProgram;
}

/** What a profile is filled in with. */
export interface ProgramLaunch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files that it cannot do without. */
  readonly readable: readonly string[];
  /** What the backend calls the model. */
  readonly model: string;
}

/** Reach for the network as the server itself does. */
export const NETWORK_VARIABLES = [
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "SSL_CERT_FILE",
  "NODE_EXTRA_CA_CERTS",
];
