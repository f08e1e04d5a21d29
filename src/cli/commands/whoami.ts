import type { Command } from "commander";
import { WhoamiResponseSchema } from "../../../gen/retinue/v1/identity_service_pb.js";
import { providerName } from "../agent-address.js";
import { act, addCommonOptions } from "../cli.js";
import { fieldLines } from "../fields.js";
import { localTime } from "../time.js";

export function addWhoami(program: Command): void {
  const command = addCommonOptions(program.command("whoami")).description("show who your key says you are");
  act(command, async (cli) => {
    const server = cli.server();
    const me = await server.identity.whoami({});
    cli.show(WhoamiResponseSchema, me, () =>
      fieldLines(cli.terminal.paint, [
        ["account", `${providerName(me.ownerProvider)}/${me.account}`],
        ["tenant", `${providerName(me.tenant?.provider ?? 0)}/${me.tenant?.org ?? ""}`],
        ["role", me.role],
        ["scopes", me.scopes.join(" ")],
        ["key", `${me.keyName} (${me.keyId})`],
        ["expires", me.expiresAt === undefined ? "never" : localTime(me.expiresAt)],
        ["server", `${server.url}, version ${me.server?.version ?? "unknown"}`],
      ]),
    );
  });
}
