import { resourceExhausted } from "../../domain/fault.js";

/** Requests that a key may send in one burst, as seconds of its rate. */
const BURST_SECONDS = 2;
/** Buckets that are full say nothing: they are dropped now and then. */
const MAX_BUCKETS = 10_000;

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/** A token bucket per key; `perSecond` 0 switches it off. */
export function createRateLimit(perSecond: number, nowMs: () => number): (keyId: string) => void {
  const size = perSecond * BURST_SECONDS;
  const buckets = new Map<string, Bucket>();

  return (keyId) => {
    if (perSecond === 0) return;
    const now = nowMs();
    let bucket = buckets.get(keyId);
    if (bucket === undefined) {
      if (buckets.size >= MAX_BUCKETS) buckets.clear();
      bucket = { tokens: size, filledAtMs: now };
      buckets.set(keyId, bucket);
    }
    // A clock that steps back must not empty the bucket.
    const elapsedMs = Math.max(0, now - bucket.filledAtMs);
    bucket.tokens = Math.min(size, bucket.tokens + (elapsedMs * perSecond) / 1000);
    bucket.filledAtMs = now;
    if (bucket.tokens < 1) {
      throw resourceExhausted(
        "RATE_LIMITED",
        `the key may send ${perSecond} requests per second: slow down`,
        Math.ceil(((1 - bucket.tokens) * 1000) / perSecond),
      );
    }
    bucket.tokens -= 1;
  };
}
