import type { FieldViolation } from "../../fault.js";

const URL_MAX = 2048;

/**
 * What is wrong with an address that events are posted to. Which hosts may be reached is decided when one is: a name
 * can point anywhere tomorrow.
 */
export function webhookUrlViolation(field: string, url: string): FieldViolation | undefined {
  const said = (description: string) => ({ field, description });
  if (url === "") return said("required: where events are posted, https://host/path");
  if (url.length > URL_MAX) return said(`at most ${URL_MAX} characters, these are ${url.length}`);
  if (/[\s\\\p{Cc}]/u.test(url)) return said("must not contain spaces, backslashes or control characters");
  if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url)) return said("must be like https://host/path");
  const { username, password, hash } = new URL(url);
  if (username !== "" || password !== "") {
    return said("must not contain a user name or password: everyone who reads the document would see it");
  }
  return hash === "" ? undefined : said("must not contain '#': what follows is never sent");
}
