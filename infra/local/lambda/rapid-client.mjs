// Preloaded into every function's process. Replaces the native addon of AWS's runtime interface
// client (`rapid-client.node`, C++ around curl, which npm would have to compile): the same three
// calls to the same Runtime API. JavaScript, because stripping types would lengthen every cold
// start.
import { registerHooks } from "node:module";

// An ES import of node:http would load undici too, which AWS's own client doesn't.
const { Agent, request } = process.getBuiltinModule("node:http");

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (specifier === "./rapid-client.node")
      return { url: import.meta.url, format: "module", shortCircuit: true };
    return nextResolve(specifier, context);
  },
});

const [hostname, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(":");
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let posted = Promise.resolve();

/** Waits for the next event. */
export async function next() {
  await posted;
  const { headers, body } = await call("GET", "/2018-06-01/runtime/invocation/next");
  return { bodyJson: body, headers };
}

/**
 * Posts what the handler returned or threw. The addon blocks until that is done; here `next` waits
 * for it.
 */
export const done = post("response");
export const error = post("error");

function post(what) {
  return (requestId, body) => {
    posted = call("POST", `/2018-06-01/runtime/invocation/${requestId}/${what}`, body);
  };
}

// When a reader has left, the runtime goes on with the next event, but leaves a rejection unhandled.
process.on("unhandledRejection", (reason) => {
  if (!/^E(CONNRESET|PIPE)$/.test(reason?.code)) throw reason;
});

function call(method, path, body) {
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, agent, method, path }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => (text += chunk));
      response.on("end", () => resolve({ headers: response.headers, body: text }));
      response.on("error", reject);
    });
    // The host never closes this connection. When it closes, the host has died, and no one else
    // would end this process.
    outgoing.on("socket", (socket) => {
      if (!outgoing.reusedSocket) socket.once("close", () => process.exit(1));
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}
