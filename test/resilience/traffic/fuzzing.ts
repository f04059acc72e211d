import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { engineClient } from "../../../infra/local/engine/engine.ts";
import type { LocalStack } from "../../../infra/local/local-stack.ts";
import { responseProblems } from "../../../infra/smoke/response-problems.ts";
import { type ErrorCode, errorBody, errors } from "../../../shared/errors.ts";
import { tableWriter } from "../../helpers/table-writer.ts";
import { type FuzzRequest, fuzzedIds, fuzzRequests, marker } from "./fuzz-requests.ts";
import { exchange, type RawResponse } from "./pipeline.ts";
import type { ResponseCounts } from "./response-counts.ts";

/**
 * Sends some 500 requests, the same for the same seed, and checks and counts every response. Of the
 * orders that they name one in ten has shipped, and the others are pending, whatever was done to
 * them before.
 *
 * @throws Error with the smallest request that gets a wrong response or none, and the seed that
 * made it.
 */
export async function fuzz(stack: LocalStack, seed: number, counts: ResponseCounts): Promise<void> {
  await resetOrders(stack);
  const port = Number(new URL(stack.baseUrl).port);
  const batches = fc.array(fuzzRequests(stack.apiKey), {
    minLength: 1,
    maxLength: 50,
    size: "max",
  });
  const property = fc.asyncProperty(batches, async (batch) => {
    const responses = await sendAll(port, batch);
    for (const [index, response] of responses.entries()) {
      const request = batch[index] ?? last;
      const wrong = problems(request, response);
      if (wrong.length > 0)
        throw new Error(`${wrong.join("\n")}: ${show(request.bytes)} got ${show(response.body)}`);
      counts.add(response);
    }
  });
  await fc.assert(property, { numRuns: 20, seed });
}

async function resetOrders({ dynamodbEndpoint, tables }: LocalStack): Promise<void> {
  const client = engineClient(dynamodbEndpoint);
  const { putOrder } = tableWriter(client, tables);
  const orders = fuzzedIds.map((id, index) => ({
    id: { N: id },
    status: { S: index % 10 ? "pending" : "shipped" },
  }));
  await Promise.all(orders.map(putOrder));
  client.destroy();
}

const last: FuzzRequest = {
  method: "GET",
  path: "/nope",
  hasKey: false,
  bytes: "GET /v1/nope HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
};

/**
 * Pipelines requests, and a last one that ends the connection: as many responses, in the same
 * order.
 *
 * @throws Error when there are fewer or more.
 */
async function sendAll(port: number, batch: FuzzRequest[]): Promise<RawResponse[]> {
  const requests = [...batch, last];
  const bytes = requests.map((request) => request.bytes).join("");
  const { responses, rest } = await exchange(
    port,
    bytes,
    (index) => batch[index]?.method === "HEAD",
  );
  if (responses.length === requests.length && rest === "") return responses;
  const unanswered = show(requests[responses.length]?.bytes ?? "");
  throw new Error(
    `${responses.length} responses to ${requests.length} requests: ${show(rest)} to ${unanswered}`,
  );
}

const errorBodies = new Set(Object.keys(errors).map((code) => errorBody(code as ErrorCode)));

/** Says what the service may not send in response to a request. */
function problems(
  { method, path, hasKey }: FuzzRequest,
  { status, headers, body }: RawResponse,
): string[] {
  const values = new Map(headers);
  const bytes = Buffer.from(body, "latin1");
  const text = (
    values.get("content-encoding") === "gzip" && body !== "" ? gunzipSync(bytes) : bytes
  ).toString();
  const found = responseProblems(method, path, {
    status,
    headers: Object.fromEntries(headers),
    body: text,
  });
  if (status < 300 && !hasKey) found.push("let in without a key");
  if (status >= 400 && method !== "HEAD" && !errorBodies.has(text))
    found.push("not an Error of the catalogue");
  if (headers.some(([, value]) => value.includes(marker)))
    found.push("echoes its request in a header");
  if (!/^[\w-]{1,128}$/.test(values.get("x-amzn-requestid") ?? ""))
    found.push("has no request id, or a bad one");
  return found;
}

function show(bytes: string): string {
  return JSON.stringify(bytes.length > 600 ? `${bytes.slice(0, 500)}... (${bytes.length})` : bytes);
}
