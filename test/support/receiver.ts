import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { cleanUp } from "./cleanup.js";

export interface Received {
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into JSON of every shape
  readonly body: any;
}

/** What webhooks are posted to. It can be taken down and brought up again at the same address. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** What it answers from now on. */
  answer: number;
  down(): Promise<void>;
  up(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  let server: http.Server;
  let port = 0;
  const receiver: Receiver = {
    get url() {
      return `http://127.0.0.1:${port}/events`;
    },
    received: [],
    answer: 204,
    async down() {
      const closed = once(server, "close");
      server.close().closeAllConnections();
      await closed;
    },
    async up() {
      server = http.createServer(async (request, response) => {
        const text = Buffer.concat(await request.toArray()).toString();
        if (receiver.answer === 204) {
          receiver.received.push({ headers: request.headers, text, body: JSON.parse(text) });
        }
        response.writeHead(receiver.answer).end();
      });
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
      port = (server.address() as AddressInfo).port;
    },
  };
  await receiver.up();
  cleanUp(() => receiver.down());
  return receiver;
}
