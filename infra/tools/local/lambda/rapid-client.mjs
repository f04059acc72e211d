// Preloaded into every function's process. Replaces the native addon of AWS's runtime interface
// client (`rapid-client.node`, C++ around curl, which npm would have to compile): the same calls to
// the same Runtime API. JavaScript, because stripping types would lengthen every cold start.
import { registerHooks } from "node:module";

// An ES import of node:http would load undici too, which AWS's own client doesn't.
const { Agent, request } = process.getBuiltinModule("node:http");

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    nextResolve(
      specifier === "./rapid-client.node" ? import.meta.filename : specifier,
      context,
    ),
});

const runtimeApi = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime`;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Post what the handler returned or threw. */
export const done = post("response");
export const error = post("error");

function post(what) {
  return (requestId, body) => {
    const url = `${runtimeApi}/invocation/${requestId}/${what}`;
    request(url, { agent, method: "POST" }, (response) => response.resume()).end(body);
  };
}

// The client asks for events by itself.
process.env.AWS_LAMBDA_NODEJS_USE_ALTERNATIVE_CLIENT_1 = "true";

// When a reader has left, the client goes on with the next event, but leaves a rejection unhandled.
process.on("unhandledRejection", (reason) => {
  if (!/^E(CONNRESET|PIPE)$/.test(reason?.code)) throw reason;
});

// Standard input ends when the host has died. No one else would end this process.
process.stdin.resume().once("end", () => process.exit(1));
process.stdin.unref();
