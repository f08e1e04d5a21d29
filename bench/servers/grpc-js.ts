// The same no-op in grpc-js as it comes, the gRPC server that most Node services run: proto-loader reads the descriptors
// and protobufjs, which compiles an encoder for each message, does the rest.
import { readFileSync } from "node:fs";
import { type JsonObject, toJson } from "@bufbuild/protobuf";
import { Server, ServerCredentials, type ServiceDefinition } from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer } from "@grpc/proto-loader";
import { WhoamiResponseSchema } from "../../gen/retinue/v1/identity_service_pb.js";
import { whoamiMessage } from "./whoami-message.js";

const descriptors = readFileSync(new URL("../../gen/descriptor.binpb", import.meta.url));
const definition = loadFileDescriptorSetFromBuffer(descriptors)[
  "retinue.v1.IdentityService"
] as ServiceDefinition;
// Read from descriptors, fields keep the names they have in the proto.
const answer = toJson(WhoamiResponseSchema, whoamiMessage(), { useProtoFieldName: true }) as JsonObject;

const server = new Server();
server.addService(definition, {
  Whoami: (_call: unknown, callback: (error: null, reply: object) => void) => callback(null, { ...answer }),
});
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(`listening on http://127.0.0.1:${port}`);
});
