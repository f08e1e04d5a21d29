/** The rules of git-check-ref-format for a branch, each with what to say when it is broken. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/^refs\//, "give the name of the branch, without refs/heads/"],
  [/^HEAD$/, "HEAD is no branch; leave it empty for the remote's default"],
  [/[\p{Cc} ~^:?*[\\]/u, "must not contain spaces, control characters or any of ~ ^ : ? * [ \\"],
  [/\.\./, "must not contain '..'"],
  [/@\{/, "must not contain '@{'"],
  [/^@$/, "'@' is no branch"],
  [/^-/, "must not begin with '-'"],
  [/^\/|\/$|\/\//, "must not begin or end with '/' or contain '//'"],
  [/(?:^|\/)\./, "no part of it may begin with '.'"],
  [/\.lock(?:\/|$)/, "no part of it may end with '.lock'"],
  [/\.$/, "must not end with '.'"],
];

/** What is wrong with the name of a branch; empty is right and means the remote's default. */
export function gitBranchViolation(branch: string): string | undefined {
  if (branch.length > 200) return `at most 200 characters, these are ${branch.length}`;
  return RULES.find(([broken]) => broken.test(branch))?.[1];
}
