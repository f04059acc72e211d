import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { engineClient } from "../../../infra/local/engine/engine.ts";
import type { LocalStack } from "../../../infra/local/local-stack.ts";
import { responseProblems } from "../../../infra/smoke/document.ts";
import { type ErrorCode, errorBody, errors } from "../../../shared/errors.ts";
import { tableWriter } from "../../helpers/table-writer.ts";
import { type FuzzRequest, fuzzedIds, fuzzRequests, marker } from "./fuzz-requests.ts";
import { exchange, type RawResponse } from "./pipeline.ts";
import type { ResponseCounts } from "./response-counts.ts";

/**
 * Sends some 500 requests, the same for the same seed, and checks and counts every response. First,
 * resets the orders that they name: one in ten has shipped, and the others are pending.
 *
 * @throws Error with the smallest request that gets a wrong response or none, and its seed.
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
      const request = batch[index] ?? closingRequest;
      const problems = problemsOf(request, response);
      if (problems.length > 0)
        throw new Error(
          `${problems.join("\n")}: ${show(request.bytes)} got ${show(response.body)}`,
        );
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
 * Pipelines requests and the closing one over a connection.
 *
 * @returns the responses, in the order of the requests.
 * @throws Error when there are fewer or more of them.
 */
async function sendAll(port: number, batch: FuzzRequest[]): Promise<RawResponse[]> {
  const requests = [...batch, closingRequest];
  const bytes = requests.map((request) => request.bytes).join("");
  const isBodiless = (index: number): boolean => requests[index]?.method === "HEAD";
  const { responses, rest } = await exchange(port, bytes, isBodiless);
  if (responses.length === requests.length && rest === "") return responses;
  const unanswered = show(requests[responses.length]?.bytes ?? "");
  throw new Error(
    `${responses.length} responses to ${requests.length} requests: ${show(rest)} to ${unanswered}`,
  );
}

const errorBodies = new Set(Object.keys(errors).map((code) => errorBody(code as ErrorCode)));

/** A line for each thing that is wrong with a response to a request. */
function problemsOf({ method, path, hasKey }: FuzzRequest, response: RawResponse): string[] {
  const { status } = response;
  const headers = new Map(response.headers);
  const body = textOf(response.body, headers.get("content-encoding"));
  const problems = responseProblems(method, path, {
    status,
    headers: Object.fromEntries(headers),
    body,
  });
  if (status < 300 && !hasKey) problems.push("let in without a key");
  if (status >= 400 && method !== "HEAD" && !errorBodies.has(body))
    problems.push("not an Error of the catalogue");
  if (headers.values().some((value) => value.includes(marker)))
    problems.push("echoes its request in a header");
  if (!/^[\w-]{1,128}$/.test(headers.get("x-amzn-requestid") ?? ""))
    problems.push("has no request id, or a bad one");
  return problems;
}

function textOf(body: string, encoding: string | undefined): string {
  const bytes = Buffer.from(body, "latin1");
  // A response to HEAD has the encoding, but no body.
  const compressed = encoding === "gzip" && body !== "";
  return (compressed ? gunzipSync(bytes) : bytes).toString();
}

function show(bytes: string): string {
  if (bytes.length <= 600) return JSON.stringify(bytes);
  return JSON.stringify(`${bytes.slice(0, 500)}... (${bytes.length})`);
}
