import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { engineClient } from "../../../infra/local/engine/engine.ts";
import type { LocalStack } from "../../../infra/local/local-stack.ts";
import { responseProblems } from "../../../infra/smoke/document.ts";
import { type ErrorCode, errorBody, errors } from "../../../shared/errors.ts";
import { tableWriter } from "../../helpers/table-writer.ts";
import { type FuzzRequest, fuzzedIds, fuzzRequests, marker } from "./fuzz-requests.ts";
import { exchange, type RawResponse } from "./pipeline.ts";
import type { ResponseCounts } from "./run-traffic.ts";

/**
 * Sends some 500 requests, the same for the same seed, and checks and counts every response. First,
 * resets the orders that they name: one in ten has shipped, and the others are pending.
 *
 * @throws Error with the smallest request that gets a wrong response or none, and its seed.
 */
export async function fuzz(
  stack: LocalStack,
  seed: number,
  counts: ResponseCounts,
): Promise<void> {
  await resetOrders(stack);
  const port = Number(new URL(stack.baseUrl).port);
  const batches = fc.array(fuzzRequests(stack.apiKey), {
    minLength: 1,
    maxLength: 50,
    size: "max",
  });
  const property = fc.asyncProperty(batches, async (batch) => {
    for (const { request, response } of await sendAll(port, [...batch, closingRequest])) {
      const problems = problemsOf(request, response).join("\n");
      if (problems !== "")
        throw new Error(`${problems}: ${show(request.bytes)} got ${show(response.body)}`);
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

/** Ends the connection. */
const closingRequest: FuzzRequest = {
  method: "GET",
  path: "/nope",
  hasKey: false,
  bytes: "GET /v1/nope HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
};

/**
 * Pipelines requests over a connection.
 *
 * @throws Error when there are fewer responses, or more.
 */
async function sendAll(port: number, requests: FuzzRequest[]) {
  const { responses, rest } = await exchange(port, requests);
  const unanswered = requests[responses.length];
  if (unanswered === undefined && rest === "") return responses;
  throw new Error(
    `${responses.length} responses to ${requests.length} requests: ` +
      `${show(rest)} to ${show(unanswered?.bytes ?? "")}`,
  );
}

const errorBodies = new Set(
  Object.keys(errors).map((code) => errorBody(code as ErrorCode)),
);

/** A line for each thing that is wrong with a response to a request. */
function problemsOf(
  { method, path, hasKey }: FuzzRequest,
  response: RawResponse,
): string[] {
  const { status, headers } = response;
  // A response to HEAD has the encoding, but no body.
  const isCompressed = headers.get("content-encoding") === "gzip" && response.body !== "";
  const bytes = Buffer.from(response.body, "latin1");
  const body = `${isCompressed ? gunzipSync(bytes) : bytes}`;
  const problems = responseProblems(method, path, {
    status,
    headers: Object.fromEntries(headers),
    body,
  });
  if (status < 300 && !hasKey) problems.push("let in without a key");
  if (status >= 400 && method !== "HEAD" && !errorBodies.has(body))
    problems.push("not an Error of the catalogue");
  if ([...headers.values()].some((value) => value.includes(marker)))
    problems.push("echoes its request in a header");
  if (!/^[\w-]{1,128}$/.test(headers.get("x-amzn-requestid") ?? ""))
    problems.push("has no request id, or a bad one");
  return problems;
}

function show(bytes: string): string {
  if (bytes.length <= 600) return JSON.stringify(bytes);
  return JSON.stringify(`${bytes.slice(0, 500)}... (${bytes.length})`);
}
