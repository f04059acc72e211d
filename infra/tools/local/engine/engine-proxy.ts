import { randomBytes } from "node:crypto";
import { Agent, createServer, request } from "node:http";
import { pipeline } from "node:stream";
import { listenOn } from "../machine/ports.ts";

const denied = JSON.stringify({
  __type: "com.amazon.coral.service#AccessDeniedException",
  message: "Use the endpoint and the access key id that infra/petstore start prints",
});

/**
 * Starts a proxy in front of the embedded engine, which accepts every request, even from another
 * origin's page in a browser. Only requests that are signed with this start's access key id, which
 * such a page can't know, get through.
 *
 * @param engine the engine's own address.
 */
export async function startEngineProxy(engine: string) {
  const accessKeyId = `LOCAL${randomBytes(8).toString("hex").toUpperCase()}`;
  // Node.js's default agent would use a proxy from the shell's environment.
  const agent = new Agent({ keepAlive: true });
  const signed = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/`;
  const server = createServer((incoming, outgoing) => {
    const { headers } = incoming;
    if (!headers.authorization?.startsWith(signed)) {
      outgoing
        .writeHead(403, { "Content-Type": "application/x-amz-json-1.0" })
        .end(denied);
      return;
    }
    const forwarded = request(engine, { agent, method: "POST", headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      pipeline(response, outgoing, () => {});
    });
    forwarded.on("error", () => outgoing.destroy());
    outgoing.on("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  const port = await listenOn(server);
  return {
    /** Like `http://127.0.0.1:54321`. */
    dynamodbEndpoint: `http://127.0.0.1:${port}`,
    /** The access key id that a request must be signed with; any secret will do. */
    accessKeyId,
    close: () => {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}
