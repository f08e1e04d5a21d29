import { useEffect, useState } from "preact/hooks";
import { ShareAccess } from "../../../gen/retinue/v1/access_pb.js";
import { ConnectionBanner } from "../parts/connection-banner.js";
import { Empty, Notices } from "../parts/notice.js";
import { ThemeSwitch } from "../parts/theme-switch.js";
import { identity, messageOf } from "../state/api.js";
import { key } from "../state/key.js";
import { fragment, parts } from "../state/route.js";
import { me } from "../state/session.js";
import { AgentPage } from "./agent.js";

/** What a shared link shows, to whoever has it. Its secret is used as the key and kept nowhere but in the address. */
export function SharePage() {
  const [problem, setProblem] = useState("");
  const secret = fragment.value;
  useEffect(() => {
    key.value = secret;
    me.value = undefined;
    if (secret === "") return setProblem("This link is not complete: what follows # is missing.");
    identity.whoami({}).then(
      (who) => {
        me.value = who;
        setProblem(who.share === undefined ? "This is not the key of a shared link." : "");
      },
      (error) => setProblem(`This link does not work: ${messageOf(error)}`),
    );
  }, [secret]);
  const share = me.value?.share;
  if (problem !== "" || share === undefined) {
    return (
      <main class="alone">
        <Empty title={problem || "One moment …"} />
      </main>
    );
  }
  const uid = parts.value[1] ?? share.agentId?.uid ?? "";
  return (
    <div class="shell shared">
      <header class="rail">
        <span class="brand">
          <img src="/ui/icon.svg" alt="" width="22" height="22" />
          Retinue
        </span>
        <span class="tag">
          shared, read only{share.access === ShareAccess.STATUS ? ", without the conversation" : ""}
        </span>
        <ThemeSwitch />
      </header>
      <main id="content">
        <ConnectionBanner />
        <AgentPage key={uid} uid={uid} />
      </main>
      <Notices />
    </div>
  );
}
