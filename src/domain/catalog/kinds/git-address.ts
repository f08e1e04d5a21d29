const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])$/;
// Neither user nor host nor path may begin with a dash: git and ssh would take it for an option.
const SSH = /^ssh:\/\/(?:([^/@]*)@)?([^/:[\]]+|\[[^\]/]*\])(?::[0-9]{1,5})?\/([^-/].*)$/;
const SCP = /^([^/@:]+)@([^/:@[\]]+|\[[^\]/]*\]):([^-:].*)$/;
const USER = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

const FORMS = "use https://host/path, ssh://user@host/path, user@host:path, file:///path or an absolute path";

/**
 * What is wrong with the address of a repository. The text never repeats the address, which may hold a
 * password. Only forms that cannot make git run a command (`ext::`) or take an option are let through.
 */
export function gitUrlViolation(url: string): string | undefined {
  if (url === "") return `required; ${FORMS}`;
  if (url.length > 2048) return `at most 2048 characters, these are ${url.length}`;
  if (/\p{Cc}/u.test(url)) return "must not contain control characters";
  if (url.startsWith("/")) return localViolation(url);
  if (url.startsWith("file://")) return fileViolation(url.slice("file://".length));
  if (/[\s\\]/.test(url)) return "must not contain spaces or backslashes";
  if (url.startsWith("https://")) return httpsViolation(url);
  if (url.startsWith("http://")) return "plain http is not encrypted; use https://";
  if (url.startsWith("ssh://")) return sshViolation(url);
  const [, user, host] = SCP.exec(url) ?? [];
  if (user !== undefined && host !== undefined && USER.test(user) && HOST.test(host)) return undefined;
  return `not an address that is taken; ${FORMS}`;
}

function httpsViolation(url: string): string | undefined {
  const authority = /^https:\/\/([^/?#]*)/.exec(url)?.[1] ?? "";
  if (authority.includes("@")) {
    return "must not contain a user name or password: everyone who reads the document would see it";
  }
  const parsed = authority !== "" && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !HOST.test(parsed.hostname))
    return "https:// must be followed by a host name and a path";
  return parsed.pathname === "/" ? "names a host but no repository: add its path" : undefined;
}

function sshViolation(url: string): string | undefined {
  const [, user, host] = SSH.exec(url) ?? [];
  if (user?.includes(":")) return "must not contain a password: everyone who reads the document would see it";
  const known = host !== undefined && HOST.test(host) && (user === undefined || USER.test(user));
  return known ? undefined : "must have the form ssh://user@host/path or ssh://user@host:port/path";
}

function fileViolation(rest: string): string | undefined {
  const path = rest.startsWith("localhost/") ? rest.slice("localhost".length) : rest;
  if (!path.startsWith("/")) return "file:// must be followed by an absolute path: file:///srv/git/repo.git";
  try {
    return localViolation(decodeURIComponent(path)); // git decodes it too: %2e%2e climbs as well as `..`
  } catch {
    return "has a '%' that is not followed by two hexadecimal digits of UTF-8";
  }
}

/** Which folders are allowed is the server's to say; `..` would climb out of them. */
function localViolation(path: string): string | undefined {
  if (/\p{Cc}/u.test(path)) return "must not contain control characters";
  if (path.split("/").includes("..")) return "must not contain '..'";
  return /[^/]/.test(path) ? undefined : "names no repository";
}
