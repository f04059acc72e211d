import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type SecureVersion } from "node:tls";
import { DeleteItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { listeningPort } from "../local/machine/ports.ts";
import { type ApiRequest, reason, send } from "../smoke/client.ts";
import { excerpt, expectDocumented } from "../smoke/response-problems.ts";
import { smoke } from "../smoke/smoke-test.ts";
import { type Checks, change, type Stage } from "./stage.ts";

const cancel = { method: "DELETE", path: "/store/orders/none" };

export const smokeTest: Checks = {
  "the smoke test passes": async (stage) => {
    const id = { N: `-${Date.now()}` };
    const { client, ordersTable: TableName } = stage;
    const place = () =>
      client.send(new PutItemCommand({ TableName, Item: { id, status: { S: "pending" } } }));
    const remove = () => client.send(new DeleteItemCommand({ TableName, Key: { id } }));
    await change(stage, `order ${id.N}`, place, remove);
    const order = { cancel: id.N, waitSeconds: 120 };
    const lines = await Array.fromAsync(smoke({ ...stage, ...order }, stage.clock));
    const failed = lines.filter(({ kind }) => kind === "FAIL");
    assert(failed.length === 0, failed.map(({ text }) => text).join("; "));
    return `${lines.length} lines`;
  },
};

export const gateway: Checks = {
  "TLS 1.1 is refused, and TLS 1.2 is not": async ({ baseUrl }) => {
    const newer = await negotiate(baseUrl, "TLSv1.2");
    assert(newer === "TLSv1.2", `TLS 1.2: ${newer}`);
    const older = await negotiate(baseUrl, "TLSv1.1");
    assert(older !== "TLSv1.1", "it speaks TLS 1.1");
    const willing = createServer({ ciphers, minVersion: "TLSv1.1", pskCallback: () => psk });
    const control = await negotiate(`https://localhost:${await listeningPort(willing)}`, "TLSv1.1");
    willing.close();
    assert(control === "TLSv1.1", `this machine itself can't speak TLS 1.1: ${control}`);
    return older;
  },
  "what do headers that are too long get?": async (stage) => {
    const { status, headers, body } = await send(stage, {
      ...cancel,
      headers: { "x-long": "x".repeat(11_000) },
    });
    return `${status}, ${headers["content-type"]}, ${excerpt(body)}`;
  },
  "too many requests get 429 and Retry-After, the others 404": async (stage) => {
    const counts = await flood(stage, cancel);
    assert(/^\{"4..":\d+,"429":\d+\}$/.test(counts), counts);
    return counts;
  },
  "do requests without a key use up what those with one may send?": async (stage) => {
    const keyless = flood(stage, { ...cancel, authorization: null });
    const keyed = await flood(stage, cancel, 20, 1);
    return `${keyed} with one, one after the other, beside ${await keyless} without`;
  },
};

/** Sends a request so many times, so many at once. @returns how many got which status. */
async function flood(
  stage: Stage,
  request: ApiRequest,
  // AWS calls its limits targets, so this is well beyond.
  times = 20 * stage.environment.throttling.cancelOrder.burstLimit,
  atOnce = 60,
): Promise<string> {
  const counts: Record<number, number> = {};
  let left = times;
  const sendInTurn = async (): Promise<void> => {
    while (left-- > 0) {
      const response = await send(stage, request);
      expectDocumented(response);
      counts[response.status] = (counts[response.status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, sendInTurn));
  return JSON.stringify(counts);
}

// At OpenSSL's own level, the client itself would refuse TLS 1.1. A shared secret spares the
// control a certificate.
const ciphers = "DEFAULT:PSK:@SECLEVEL=0";
const psk = Buffer.from("shared");

/**
 * Connects with exactly this version of TLS. @returns the version, or why there is no connection.
 */
async function negotiate(url: string, version: SecureVersion): Promise<string> {
  const { hostname: host, port } = new URL(url);
  const socket = connect({
    ...{
      host,
      servername: host,
      port: Number(port || 443),
      minVersion: version,
      maxVersion: version,
      ciphers,
    },
    ...{ rejectUnauthorized: false, checkServerIdentity: () => undefined },
    pskCallback: () => ({ psk, identity: "" }),
  });
  try {
    await once(socket, "secureConnect", { signal: AbortSignal.timeout(10_000) });
    return String(socket.getProtocol());
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : reason(error);
  } finally {
    socket.destroy();
  }
}
