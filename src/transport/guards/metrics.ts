import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { Code } from "../../../gen/google/rpc/code_pb.js";
import type { Rpc } from "../rpc.js";

/** What `/metrics` shows. Labels name methods and codes, never tenants, accounts or agents. */
export interface Metrics {
  called(rpc: Rpc, code: Code, tookMs: number): void;
  badKey(): void;
  text(): Promise<string>;
  readonly contentType: string;
}

interface Observer {
  observe(seconds: number): void;
}

const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createMetrics(openCalls: () => number): Metrics {
  const registers = [new Registry()];
  collectDefaultMetrics({ register: registers[0] as Registry, prefix: "retinue_" });
  const calls = new Histogram({
    name: "retinue_rpc_duration_seconds",
    help: "Time from the whole request to the end of the call, by method and code",
    labelNames: ["method", "code"],
    buckets: BUCKETS_S,
    registers,
  });
  const badKeys = new Counter({
    name: "retinue_bad_keys_total",
    help: "Requests without a valid key",
    registers,
  });
  new Gauge({
    name: "retinue_open_calls",
    help: "Streams and waits that are open",
    registers,
    collect() {
      this.set(openCalls());
    },
  });

  // labels() hashes the label values, which costs more than observing: once per method and code is enough.
  const children = new Map<string, Map<Code, Observer>>();
  function child(action: string, code: Code): Observer {
    const codes = children.get(action) ?? new Map<Code, Observer>();
    if (codes.size === 0) children.set(action, codes);
    const bound = codes.get(code) ?? calls.labels(action, Code[code]);
    codes.set(code, bound);
    return bound;
  }

  return {
    called: (rpc, code, tookMs) => child(rpc.action, code).observe(tookMs / 1000),
    badKey: () => badKeys.inc(),
    text: () => (registers[0] as Registry).metrics(),
    contentType: (registers[0] as Registry).contentType,
  };
}
