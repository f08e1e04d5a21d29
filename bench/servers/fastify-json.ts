// What a plain JSON route costs in Fastify: no key, no schema, no protobuf.
import { fastify } from "fastify";
import { WHOAMI_JSON } from "./whoami-message.js";

const answer = JSON.parse(WHOAMI_JSON) as Record<string, unknown>;

const app = fastify();
app.get("/v1/whoami", async () => ({ ...answer }));
console.log(`listening on ${await app.listen({ port: 0, host: "127.0.0.1" })}`);
