// The least that unary gRPC costs in Node: bare http2 streams and protobuf-es. No routes, keys, limits or deadlines.
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { WhoamiRequestSchema, WhoamiResponseSchema } from "../../gen/retinue/v1/identity_service_pb.js";
import { whoamiMessage } from "./whoami-message.js";

const PREFIX_BYTES = 5;
const HEAD = { ":status": 200, "content-type": "application/grpc+proto" };

function answer(body: Buffer): Buffer {
  fromBinary(WhoamiRequestSchema, body.subarray(PREFIX_BYTES));
  const message = toBinary(WhoamiResponseSchema, whoamiMessage());
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, PREFIX_BYTES);
  return frame;
}

const server = http2.createServer();
server.on("stream", (stream) => {
  const chunks: Buffer[] = [];
  stream.on("error", () => {}); // a client that leaves at the end of its time
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.on("end", () => {
    if (stream.destroyed) return;
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.respond(HEAD, { waitForTrailers: true });
    stream.end(answer(Buffer.concat(chunks)));
  });
});
server.listen(0, "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
