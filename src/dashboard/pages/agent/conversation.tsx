import { useComputed, useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Phase } from "../../../../gen/retinue/v1/agent_pb.js";
import { tellError } from "../../parts/notice.js";
import type { AgentView } from "../../state/agent-view.js";
import { conversationOf } from "../../text/conversation.js";
import { Markdown } from "../../text/markdown.js";
import { ConversationItem } from "./item.js";

/** How near to the end counts as reading the end. */
const NEAR_PX = 80;

export function Conversation({ view }: { view: AgentView }) {
  const everything = useSignal(false);
  const items = useComputed(() =>
    conversationOf(view.events.value).filter((item) => everything.value || !("minor" in item && item.minor)),
  );
  const frame = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  // Whoever reads the end goes on reading the end; whoever has scrolled up is left in peace.
  useLayoutEffect(() => {
    const element = frame.current;
    if (element && atEnd.current) element.scrollTop = element.scrollHeight;
  });

  const earlier = (view.events.value[0]?.seq ?? 1n) > 1n;
  const running = view.status.value?.phase === Phase.RUNNING;
  return (
    <div class="conversation-pane">
      <div class="pane-bar">
        <h2>Conversation</h2>
        <label class="check">
          <input
            type="checkbox"
            checked={everything.value}
            onChange={(event) => {
              everything.value = event.currentTarget.checked;
            }}
          />
          Every event
        </label>
      </div>
      <div
        class="conversation"
        ref={frame}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by keyboard too
        tabIndex={0}
        role="log"
        aria-label="Conversation"
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          atEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_PX;
        }}
      >
        {earlier ? (
          <button type="button" class="earlier" onClick={() => view.loadEarlier().catch(tellError)}>
            Show earlier
          </button>
        ) : null}
        {items.value.map((item) => (
          <div key={item.seq} data-seq={item.seq} class="entry">
            <ConversationItem item={item} />
          </div>
        ))}
        {view.liveText.value === "" ? null : (
          <div class="message live">
            <Markdown text={view.liveText.value} />
          </div>
        )}
        {running && view.liveText.value === "" ? (
          <p class="working">
            <span class="dot" aria-hidden="true" /> working …
          </p>
        ) : null}
      </div>
    </div>
  );
}
