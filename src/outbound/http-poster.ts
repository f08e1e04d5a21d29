import { lookup } from "node:dns";
import http from "node:http";
import https from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { type Poster, PostRefused } from "./poster.js";
import { isPublicAddress } from "./public-address.js";

export interface HttpPosterOptions {
  /** Also loopback and private networks, and without TLS. */
  readonly anywhere: boolean;
  readonly timeoutMs: number;
}

export function createHttpPoster({ anywhere, timeoutMs }: HttpPosterOptions): Poster {
  return {
    post(address, headers, body, signal) {
      const url = new URL(address);
      if (!anywhere) requirePublic(url);
      const { request } = url.protocol === "https:" ? https : http;
      return new Promise((resolve, reject) => {
        const sent = request(url, {
          method: "POST",
          headers: { ...headers, "content-length": Buffer.byteLength(body) },
          signal,
          ...(anywhere ? {} : { lookup: publicLookup }),
        });
        const late = setTimeout(
          () => sent.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)),
          timeoutMs,
        );
        sent.on("close", () => clearTimeout(late));
        sent.on("response", (response) => {
          resolve(response.statusCode ?? 0);
          // Nothing in it is of interest, and it may be without end.
          response.destroy();
        });
        sent.on("error", reject);
        sent.end(body);
      });
    },
  };
}

function requirePublic({ protocol, hostname }: URL): void {
  if (protocol !== "https:") throw refused("only https:// addresses are posted to");
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw refused(`${host} is not a public address`);
}

/** Looks at what a name stands for at the moment of connecting: a name can point anywhere a second later. */
const publicLookup: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return done(error, "");
    const inside = addresses.find(({ address }) => !isPublicAddress(address));
    if (inside) return done(refused(`${hostname} is ${inside.address}, which is not a public address`), "");
    if (options.all) return done(null, addresses);
    const [first] = addresses;
    return done(null, first?.address ?? "", first?.family ?? 4);
  });
};

function refused(why: string): PostRefused {
  return new PostRefused(`${why}; the server's operator can allow it with --allow-private-webhooks`);
}
