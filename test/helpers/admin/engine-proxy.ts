import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";

/** What becomes of a request: it passes, nobody ever answers it, its answer is lost, or it gets another answer. */
export type Fate = "pass" | "hold" | "lose the answer" | { status: number; body: unknown };

export interface EngineProxy {
  endpoint: string;
  /** Ends it when the engine has done all that was passed on, also for clients that are gone. */
  stop(): Promise<void>;
}

/** Stands between the command line and the engine, and decides over each request by its operation, like `PutItem`. */
export async function createEngineProxy(engine: string, decide: (operation: string) => Fate): Promise<EngineProxy> {
  const underWay = new Set<Promise<void>>();
  const server = createServer((incoming, outgoing) => {
    const done = serve(engine, decide, incoming, outgoing).catch(() => void outgoing.destroy());
    underWay.add(done);
    done.finally(() => underWay.delete(done));
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
      await Promise.all(underWay);
    },
  };
}

async function serve(
  engine: string,
  decide: (operation: string) => Fate,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  // Whole before its fate is decided: what passes then reaches the engine even if its client is killed.
  const body = await buffer(incoming);
  const operation = String(incoming.headers["x-amz-target"]);
  const fate = decide(operation.replace(/^.*\./, ""));
  if (fate === "hold") return;
  if (typeof fate === "object") {
    outgoing.writeHead(fate.status, { "content-type": "application/x-amz-json-1.0" }).end(JSON.stringify(fate.body));
    return;
  }
  const forwarded = request(engine, { method: "POST", headers: incoming.headers }).end(body);
  const [answer]: IncomingMessage[] = await once(forwarded, "response");
  if (answer === undefined) throw new Error("The engine's answer is no answer");
  const answerBody = await buffer(answer);
  if (fate === "pass") outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(answerBody);
  else outgoing.destroy();
}
