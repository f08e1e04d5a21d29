import { BlockList, isIPv6 } from "node:net";

/** Networks that nobody reaches from outside: IANA's special-purpose registries. */
const INSIDE: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
  ["::", 127],
  ["64:ff9b::", 96],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
];

const inside = new BlockList();
for (const [network, prefix] of INSIDE) inside.addSubnet(network, prefix, isIPv6(network) ? "ipv6" : "ipv4");

/** Whether an address can be told apart from the inside of our own network. */
export function isPublicAddress(address: string): boolean {
  // IPv4 written as IPv6 is looked at as what it is.
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return isPublicAddress(mapped);
  return !inside.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
