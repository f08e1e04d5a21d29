import { useEffect, useState } from "preact/hooks";
import { SharePage } from "./pages/share.js";
import { SignIn } from "./pages/sign-in.js";
import { Empty } from "./parts/notice.js";
import { Shell } from "./shell.js";
import { isLost } from "./state/api.js";
import { lost, pause, pauseAfter, reached } from "./state/connection.js";
import { key } from "./state/key.js";
import { parts } from "./state/route.js";
import { me, resume } from "./state/session.js";

/** The page: for whoever is signed in, for whoever is not, and for whoever follows a shared link. */
export function App() {
  if (parts.value[0] === "share") return <SharePage />;
  if (key.value === "") return <SignIn />;
  return me.value === undefined ? <Resuming /> : <Shell />;
}

/** A tab that was loaded again has its key and asks who it belongs to. */
function Resuming() {
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const left = new AbortController();
    const ask = async () => {
      for (let failures = 1; ; failures++) {
        try {
          await resume();
          return reached();
        } catch (error) {
          if (!isLost(error)) return setProblem("The key could not be checked. Load the page again.");
          lost();
          setProblem("The server cannot be reached. Trying again …");
          await pause(pauseAfter(failures), left.signal);
        }
      }
    };
    ask().catch(() => {});
    return () => left.abort();
  }, []);
  return (
    <main class="alone">
      <Empty title={problem === "" ? "One moment …" : problem} />
    </main>
  );
}
