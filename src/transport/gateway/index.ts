export { createErrorHandler, errorHandler, GATEWAY_APP_OPTIONS, notFoundHandler } from "./envelope.js";
export { registerGateway } from "./register-gateway.js";
