import type { Command } from "commander";
import { ChangeRequestSchema } from "../../../gen/retinue/v1/catalog_pb.js";
import { tenantOf } from "../agent-address.js";
import type { TenantOptions } from "../catalog/reference.js";
import { act, addCommonOptions, type CommonOptions } from "../cli.js";

interface DecideOptions extends CommonOptions, TenantOptions {
  readonly note?: string;
}

/** approve and reject: what somebody proposed who may not write. */
export function addDecide(program: Command): void {
  const decision = (name: string, description: string) =>
    addCommonOptions(program.command(name))
      .description(description)
      .argument("<request>", "name of the change-request; retinue get change-request lists them")
      .option("--note <text>", "a word to whoever proposed it")
      .option("--tenant <tenant>", "organisation: PROVIDER/ORG");
  const requestOf = (name: string, options: DecideOptions) => ({
    name,
    note: options.note ?? "",
    ...(options.tenant === undefined ? {} : { tenant: tenantOf(options.tenant) }),
  });

  const approve = decision("approve", "write what somebody proposed");
  act<DecideOptions, [string]>(approve, async (cli, options, name) => {
    const { changeRequest, generation } = await cli
      .server()
      .catalog.approveChangeRequest(requestOf(name, options));
    if (changeRequest === undefined) throw new Error("the server answered without the change request");
    const { kind, name: target } = changeRequest.target ?? { kind: "", name: "" };
    cli.show(ChangeRequestSchema, changeRequest, () => [
      `${kind}/${target} written, generation ${generation}`,
    ]);
  });

  const reject = decision("reject", "turn down what somebody proposed, or withdraw what you did");
  act<DecideOptions, [string]>(reject, async (cli, options, name) => {
    const { changeRequest } = await cli.server().catalog.rejectChangeRequest(requestOf(name, options));
    if (changeRequest === undefined) throw new Error("the server answered without the change request");
    cli.show(ChangeRequestSchema, changeRequest, () => [`change-request/${name} rejected`]);
  });
}
