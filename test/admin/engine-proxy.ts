import { once } from "node:events";
import { createServer, request } from "node:http";

/** What becomes of a request: it passes, nobody ever answers it, its answer is lost, or it gets another answer. */
export type Fate = "pass" | "hold" | "lose the answer" | { status: number; body: unknown };

export interface EngineProxy {
  endpoint: string;
  stop(): Promise<void>;
}

/** Stands between the command line and the engine, and decides over each request by its operation, like `PutItem`. */
export async function createEngineProxy(engine: string, decide: (operation: string) => Fate): Promise<EngineProxy> {
  const server = createServer((incoming, outgoing) => {
    const fate = decide(String(incoming.headers["x-amz-target"]).replace(/^.*\./, ""));
    if (fate === "hold") return;
    if (typeof fate === "object") {
      incoming.resume();
      outgoing.writeHead(fate.status, { "content-type": "application/x-amz-json-1.0" });
      outgoing.end(JSON.stringify(fate.body));
      return;
    }
    const forwarded = request(engine + incoming.url, { method: "POST", headers: incoming.headers }, (answer) => {
      if (fate === "lose the answer") {
        answer.resume().on("end", () => outgoing.destroy());
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on("error", () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The proxy has no port");
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
