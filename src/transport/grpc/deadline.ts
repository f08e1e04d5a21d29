import { type Fault, malformed } from "../../domain/fault.js";

/** Longest time a timer can hold: setTimeout fires at once beyond it. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const UNIT_MS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/** `100m` → 100. A deadline of more than 24 days is one of 24 days. Throws a Fault. */
export function grpcTimeoutMs(value: string): number {
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(value) ?? [];
  if (digits === undefined || unit === undefined) throw badTimeout("grpc-timeout", value);
  return Math.min(Number(digits) * (UNIT_MS[unit] ?? 0), MAX_TIMER_MS);
}

export function badTimeout(header: "grpc-timeout" | "connect-timeout-ms", value: string): Fault {
  const allowed =
    header === "grpc-timeout" ? "up to 8 digits and a unit of H, M, S, m, u, n" : "up to 10 digits";
  return malformed(`${header}: '${value}' is not a timeout (${allowed})`);
}

/** Cuts the client's deadline to what a timer can hold; Connect would take a longer one for a passed one. */
export function clampTimeout(header: Headers): void {
  const grpc = header.get("grpc-timeout");
  if (grpc !== null && /^\d{1,8}[HMS]$/.test(grpc) && grpcTimeoutMs(grpc) === MAX_TIMER_MS) {
    header.set("grpc-timeout", `${Math.floor(MAX_TIMER_MS / 1000)}S`);
  }
  const connect = header.get("connect-timeout-ms");
  if (connect !== null && /^\d{10}$/.test(connect) && Number(connect) > MAX_TIMER_MS) {
    header.set("connect-timeout-ms", String(MAX_TIMER_MS));
  }
}

/** Why a signal is aborted; `abortFault` makes DEADLINE_EXCEEDED of the one and CANCELLED of the other. */
export function deadlinePassed(): DOMException {
  return new DOMException("the client's deadline passed", "TimeoutError");
}

export function clientGone(): DOMException {
  return new DOMException("the client cancelled the call", "AbortError");
}
