import { serviceProfile } from "../../../../src/domain/catalog/kinds/service-profile.js";
import { type BadRow, describedRows, type GoodRow, testRows } from "./violation-rows.js";

const described = describedRows({});
const callers = (...list: string[]) => ({ callers: list });

const good: GoodRow[] = [
  ...described.good,
  ["may have no callers", {}],
  ["takes a login", callers("codehost_oauth/alice")],
  ["takes an organisation", callers("codehost_app/acme")],
  ["takes an address", callers("idp_oidc/alice@example.com")],
  ["takes another profile", callers("service_profile/nightly")],
  ["takes the same account of two providers", callers("codehost_oauth/a", "idp_oidc/a")],
];

const bad: BadRow[] = [
  ...described.bad,
  ["refuses a bare account", callers("alice"), "callers[0]", "<provider_name>/<account>"],
  ["refuses nobody", callers(""), "callers[0]", "<provider_name>/<account>"],
  ["refuses a provider alone", callers("codehost_oauth/"), "callers[0]", "<provider_name>/<account>"],
  ["refuses an account alone", callers("/alice"), "callers[0]", "<provider_name>/<account>"],
  ["refuses a path", callers("codehost_oauth/a/b"), "callers[0]", "<provider_name>/<account>"],
  [
    "refuses an unknown provider",
    callers("codehost_oauth/a", "github/a"),
    "callers[1]",
    '"github" is no provider; known: codehost_oauth, codehost_app, idp_oidc, service_profile',
  ],
  ["refuses the name of the enum value", callers("PROVIDER_IDP_OIDC/a"), "callers[0]", "is no provider"],
  ["refuses the provider that is none", callers("unspecified/a"), "callers[0]", "is no provider"],
  ["refuses an account with a space", callers("idp_oidc/a b"), "callers[0]", "spaces"],
  ["refuses an endless account", callers(`idp_oidc/${"x".repeat(201)}`), "callers[0]", "at most 200"],
  ["refuses a caller twice", callers("idp_oidc/a", "idp_oidc/a"), "callers[1]", "already at callers[0]"],
];

testRows(serviceProfile, good, bad);
