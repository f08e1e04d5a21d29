import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Where a process accepts TCP connections over IPv4, as `address:port`. */
export function listeningPorts(pid: number): string[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
      } catch {
        return undefined; // closed since it was listed
      }
    }),
  );
  return readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === "0A" && sockets.has(inode))
    .map(([, local = ""]) => {
      const [address = "", port = ""] = local.split(":");
      const bytes = address.match(/../g) ?? [];
      return `${bytes
        .reverse()
        .map((byte) => Number.parseInt(byte, 16))
        .join(".")}:${Number.parseInt(port, 16)}`;
    });
}
