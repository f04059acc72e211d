import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type SecureVersion } from "node:tls";
import { DeleteItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { listeningPort } from "../local/machine/ports.ts";
import { type ApiRequest, reason, send } from "../smoke/client.ts";
import { excerpt, expectDocumented } from "../smoke/expect-response.ts";
import { smoke } from "../smoke/smoke-test.ts";
import { type CheckContext, type Checks, change } from "./run-checks.ts";

const cancelUnknownOrder = { method: "DELETE", path: "/store/orders/none" };

// OpenSSL's default level makes the client itself reject TLS 1.1. With a pre-shared key, a server
// on this machine needs no certificate.
const ciphers = "DEFAULT:PSK:@SECLEVEL=0";
const psk = Buffer.from("shared");

export const smokeTest: Checks = {
  "the smoke test passes": async (context) => {
    const { client, ordersTable: TableName } = context;
    // A real order hardly has a negative id.
    const id = { N: `-${Date.now()}` };
    const Item = { id, status: { S: "pending" } };
    const put = () => client.send(new PutItemCommand({ TableName, Item }));
    const remove = () => client.send(new DeleteItemCommand({ TableName, Key: { id } }));
    await change(context, `order ${id.N}`, put, remove);
    const service = { ...context, cancel: id.N, waitSeconds: 120 };
    const lines = await Array.fromAsync(smoke(service, context.clock));
    const failed = lines.filter(({ kind }) => kind === "FAIL");
    assert(failed.length === 0, failed.map(({ text }) => text).join("; "));
    return `${lines.length} lines`;
  },
};

export const gatewayChecks: Checks = {
  "TLS 1.1 is rejected, and TLS 1.2 is accepted": async ({ baseUrl }) => {
    const tls12Failure = await tlsFailure(baseUrl, "TLSv1.2");
    assert(tls12Failure === undefined, `TLS 1.2: ${tls12Failure}`);
    const rejection = await tlsFailure(baseUrl, "TLSv1.1");
    assert(rejection !== undefined, "it speaks TLS 1.1");
    // Makes sure that the rejection was not this machine's.
    const server = createServer({ ciphers, minVersion: "TLSv1.1", pskCallback: () => psk });
    const port = await listeningPort(server);
    const ownFailure = await tlsFailure(`https://localhost:${port}`, "TLSv1.1");
    server.close();
    assert(ownFailure === undefined, `this machine itself can't speak TLS 1.1: ${ownFailure}`);
    return rejection;
  },
  "what is the response to headers that are too long?": async (context) => {
    // The gateway accepts 10,240 bytes of headers.
    const tooLong = { "x-long": "x".repeat(11_000) };
    const response = await send(context, { ...cancelUnknownOrder, headers: tooLong });
    const { status, headers, body } = response;
    return `${status}, ${headers["content-type"]}, ${excerpt(body)}`;
  },
  "too many requests get 429 and Retry-After, the others 404": async (context) => {
    const counts = await flood(context, cancelUnknownOrder);
    assert(/^\{"404":\d+,"429":\d+\}$/.test(counts), counts);
    return counts;
  },
  "do requests without a key count towards the limit of those with one?": async (context) => {
    const [keyless, keyed] = await Promise.all([
      flood(context, { ...cancelUnknownOrder, authorization: null }),
      flood(context, cancelUnknownOrder, { times: 20, atOnce: 1 }),
    ]);
    return `with a key, one at a time: ${keyed}; at the same time without: ${keyless}`;
  },
};

/**
 * Sends a request many times; by default, enough to be throttled: AWS applies its limits only
 * roughly.
 *
 * @returns the number of responses by status, as JSON.
 * @throws AssertionError for a response that is not documented.
 */
async function flood(
  context: CheckContext,
  request: ApiRequest,
  { times, atOnce } = {
    times: 20 * context.environment.throttling.cancelOrder.burstLimit,
    atOnce: 60,
  },
): Promise<string> {
  const counts: Record<number, number> = {};
  let remaining = times;
  const sendInTurn = async (): Promise<void> => {
    while (remaining-- > 0) {
      const response = await send(context, request);
      expectDocumented(response);
      counts[response.status] = (counts[response.status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, sendInTurn));
  return JSON.stringify(counts);
}

/**
 * Connects with exactly this version of TLS.
 *
 * @returns why that fails; undefined when it succeeds.
 */
async function tlsFailure(url: string, version: SecureVersion): Promise<string | undefined> {
  const { hostname, port } = new URL(url);
  const socket = connect({
    host: hostname,
    servername: hostname,
    port: Number(port || 443),
    minVersion: version,
    maxVersion: version,
    ciphers,
    rejectUnauthorized: false,
    checkServerIdentity: () => undefined,
    pskCallback: () => ({ psk, identity: "" }),
  });
  try {
    await once(socket, "secureConnect", { signal: AbortSignal.timeout(10_000) });
    return undefined;
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : reason(error);
  } finally {
    socket.destroy();
  }
}
