import { useEffect } from "preact/hooks";
import { Pages } from "./pages.js";
import { ConnectionBanner } from "./parts/connection-banner.js";
import { Help } from "./parts/help.js";
import { Icon, type IconName } from "./parts/icon.js";
import { Notices } from "./parts/notice.js";
import { ThemeSwitch } from "./parts/theme-switch.js";
import { account, forgetList, pollList, refreshList, waiting } from "./state/agent-list.js";
import { dropKey } from "./state/key.js";
import { hrefOf, parts } from "./state/route.js";
import { may, me } from "./state/session.js";

interface Place {
  readonly name: string;
  readonly label: string;
  readonly icon: IconName;
  readonly needs: string;
}

const PLACES: readonly Place[] = [
  { name: "agents", label: "Agents", icon: "agents", needs: "agents:read" },
  { name: "inbox", label: "Inbox", icon: "inbox", needs: "agents:read" },
  { name: "catalog", label: "Catalog", icon: "catalog", needs: "catalog:read" },
  { name: "pools", label: "Pools", icon: "pools", needs: "catalog:read" },
  { name: "keys", label: "Keys", icon: "keys", needs: "keys:manage" },
  { name: "audit", label: "Audit", icon: "audit", needs: "audit:read" },
];

/** What is around every page. */
export function Shell() {
  useEffect(() => {
    const left = new AbortController();
    if (may("accounts:all")) account.value = "*";
    void pollList(left.signal);
    const unsubscribe = account.subscribe(() => refreshList());
    return () => {
      unsubscribe();
      left.abort();
      forgetList();
    };
  }, []);
  const asking = waiting.value.length;
  useEffect(() => {
    document.title = asking > 0 ? `(${asking}) Retinue` : "Retinue";
  }, [asking]);

  return (
    <div class="shell">
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="rail">
        <a class="brand" href={hrefOf("agents")}>
          <img src="/ui/icon.svg" alt="" width="22" height="22" />
          Retinue
        </a>
        <nav aria-label="Pages">
          {PLACES.filter(({ needs }) => may(needs)).map((place) => (
            <PlaceLink key={place.name} place={place} count={place.name === "inbox" ? asking : 0} />
          ))}
        </nav>
        <Account />
      </header>
      <main id="content" tabIndex={-1}>
        <ConnectionBanner />
        <Pages />
      </main>
      <Notices />
      <Help />
    </div>
  );
}

function PlaceLink({ place, count }: { place: Place; count: number }) {
  const here = (parts.value[0] || "agents") === place.name;
  return (
    <a href={hrefOf(place.name)} aria-current={here ? "page" : undefined}>
      <Icon name={place.icon} />
      <span>{place.label}</span>
      {count > 0 ? (
        <span class="badge" title={`${count} need input`}>
          {count}
        </span>
      ) : null}
    </a>
  );
}

function Account() {
  const { account: name, tenant, role, server } = me.value ?? {};
  return (
    <div class="account">
      <p title={`Retinue ${server?.version ?? ""}`}>
        <strong>{name}</strong>
        <span class="dim">
          {tenant?.org}
          {role ? ` · ${role}` : ""}
        </span>
      </p>
      <ThemeSwitch />
      <button type="button" class="plain icon-only" aria-label="Sign out" title="Sign out" onClick={dropKey}>
        <Icon name="out" />
      </button>
    </div>
  );
}
