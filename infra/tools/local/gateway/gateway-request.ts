import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { GatewayFailure } from "./gateway-failure.ts";

const bodyLimit = 10 * 1024 * 1024;

export type GatewayRequest = ReturnType<typeof readRequest>;

/** A client's request as the gateway sees it. */
export function readRequest(message: IncomingMessage) {
  // The request line may name a host.
  const [, path = "", query] =
    message.url?.match(/^(?:https?:\/\/[^/?]*)?([^?]*)\??(.*)/is) ?? [];
  const [, stage, ...below] = path.split("/");
  const [givenId = ""] = message.headersDistinct["x-amzn-requestid"] ?? [];
  return {
    // Clients may set it, as on AWS, so it may not be unique.
    id: /^[\w-]{1,128}$/.test(givenId) ? givenId : randomUUID(),
    method: message.method ?? "GET",
    /** As it was sent: with the stage, without the query. */
    path: path || "/",
    stage,
    /** The path below the stage. */
    resourcePath: `/${below.join("/")}`,
    query: new URLSearchParams(query),
    message,
    /** Ends every wait; its reason is the failure. */
    abort: new AbortController(),
  };
}

/**
 * Reads the whole body as text.
 *
 * @throws GatewayFailure when it is larger than the gateway accepts.
 */
export async function readBody(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  // The connection stays, for the 413.
  const body: AsyncIterable<Buffer> = message.iterator({ destroyOnReturn: false });
  for await (const chunk of body) {
    size += chunk.length;
    if (size > bodyLimit) throw new GatewayFailure("REQUEST_TOO_LARGE");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
