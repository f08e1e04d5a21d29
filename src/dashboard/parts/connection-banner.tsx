import { now } from "../state/clock.js";
import { lostSince } from "../state/connection.js";
import { duration } from "../text/format.js";

/** Says when what is shown may be old. */
export function ConnectionBanner() {
  const since = lostSince.value;
  return (
    <div role="status" aria-live="polite">
      {since === undefined ? null : (
        <p class="banner">
          <span class="dot" aria-hidden="true" />
          Disconnected for {duration(now.value - since)}. What you see may be old; trying again …
        </p>
      )}
    </div>
  );
}
