import { type AgentProfile, NETWORK_VARIABLES } from "./profile.js";

/** Any other program that speaks ACP, under the name that the operator gave it. */
export function customProfile(name: string): AgentProfile {
  return {
    name,
    title: `${name} (ACP)`,
    command: [],
    versionArgs: ["--version"],
    testedVersion: "",
    install: `install the program that --custom-agent ${name}=… names`,
    variables: NETWORK_VARIABLES,
    credentials: [],
    program: ({ model: _, ...launch }) => ({
      ...launch,
      protocol: "acp",
      takes: { instructions: false, outputSchema: false },
    }),
  };
}
