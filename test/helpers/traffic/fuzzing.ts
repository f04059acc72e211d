import { gunzipSync } from "node:zlib";
import { BatchWriteItemCommand } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { engineClient } from "../../../infra/local/engine/engine.ts";
import type { LocalStack } from "../../../infra/local/local-stack.ts";
import { type ErrorCode, errorBody, errors } from "../../../shared/errors.ts";
import { exchange, type RawResponse } from "../faults/pipeline.ts";
import { type FuzzRequest, fuzzedOrders, fuzzRequests, marker } from "./fuzz-requests.ts";
import { ResponseCounts } from "./response-counts.ts";

export interface FuzzOptions {
  /** At least this many are sent. */
  requests: number;
  /** The same seed sends the same requests. */
  seed: number;
  /** Takes the number of requests sent so far, after each round. */
  onRound?: (requests: number) => void;
}

const requestsPerBatch = 50;
const batchesPerRound = 20;
/** Of this many orders one has shipped; the others are pending when a round begins. */
const shippedEvery = 10;

/**
 * Sends requests in rounds and checks every response. Each round starts with its orders pending or shipped, whatever
 * the last one did to them.
 *
 * @throws Error with the smallest request that gets a wrong response or none, and the seed that made it.
 */
export async function fuzz(stack: LocalStack, { requests, seed, onRound }: FuzzOptions): Promise<ResponseCounts> {
  const port = Number(new URL(stack.baseUrl).port);
  const counts = new ResponseCounts();
  const batches = fc.array(fuzzRequests(stack.apiKey), { minLength: 1, maxLength: requestsPerBatch, size: "max" });
  const property = fc.asyncProperty(batches, async (batch) => {
    const responses = await sendAll(port, batch);
    for (const [index, { operation }] of batch.entries()) counts.add(operation, responses[index]);
  });
  for (let round = 0; counts.total < requests; round += 1) {
    await resetOrders(stack);
    const numRuns = Math.min(batchesPerRound, Math.ceil((requests - counts.total) / requestsPerBatch));
    await fc.assert(property, { numRuns, seed: seed + round });
    onRound?.(counts.total);
  }
  return counts;
}

/** Puts the orders that requests name straight into the table. */
async function resetOrders({ dynamodbEndpoint, tables }: LocalStack): Promise<void> {
  const client = engineClient(dynamodbEndpoint);
  const puts = Array.from({ length: fuzzedOrders.count }, (_, index) => {
    const status = index % shippedEvery === 0 ? "shipped" : "pending";
    return { PutRequest: { Item: { id: { N: String(fuzzedOrders.first + index) }, status: { S: status } } } };
  });
  while (puts.length > 0) {
    await client.send(new BatchWriteItemCommand({ RequestItems: { [tables.orders]: puts.splice(0, 25) } }));
  }
  client.destroy();
}

/**
 * Pipelines requests over one connection: as many responses, in the same order.
 *
 * @throws Error when a response is missing, wrong, or one too many.
 */
export async function sendAll(port: number, batch: FuzzRequest[]): Promise<RawResponse[]> {
  const last = "GET /v1/nope HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  const bytes = batch.map((request) => request.bytes).join("") + last;
  const { responses, rest } = await exchange(port, bytes, { bodiless: (index) => batch[index]?.method === "HEAD" });
  const unanswered = batch[responses.length];
  if (unanswered !== undefined) throw new Error(`No response to ${show(unanswered.bytes)}, but ${show(rest)}`);
  if (responses.length !== batch.length + 1 || rest !== "") throw new Error(`More than the responses: ${show(rest)}`);
  for (const [index, request] of batch.entries()) check(request, responses[index]);
  return responses.slice(0, -1);
}

/** @throws Error when the response is neither the operation's nor an Error record of the catalogue. */
function check(request: FuzzRequest, response: RawResponse | undefined): void {
  const wrong = response === undefined ? "is missing" : whatIsWrong(request, response);
  if (wrong !== undefined)
    throw new Error(`The response ${wrong}: ${show(request.bytes)} got ${JSON.stringify(response)}`);
}

const headerNames = new Set([
  "allow",
  "cache-control",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "transfer-encoding",
  "vary",
  "www-authenticate",
  "x-amzn-requestid",
]);
const bodies = new Map(Object.entries(errors).map(([code, { status }]) => [errorBody(code as ErrorCode), status]));

/** Says what is wrong with a response to a request, or undefined when the service may have sent it. */
function whatIsWrong(
  { method, operation, hasKey }: FuzzRequest,
  { status, headers, body }: RawResponse,
): string | undefined {
  const values = new Map(headers);
  for (const [name, value] of headers) {
    if (!headerNames.has(name)) return `has the header ${name}`;
    if (name === "x-amzn-requestid" ? !/^[\w-]{1,128}$/.test(value) : value.includes(marker))
      return "echoes its request";
  }
  if (status === 200) {
    if (!hasKey || method !== "GET") return "shows orders to someone who may not see them";
    const bytes = Buffer.from(body, "latin1");
    const list = values.get("content-encoding") === "gzip" ? gunzipSync(bytes) : bytes;
    const isArray = Array.isArray(JSON.parse(list.toString()));
    return isArray || operation !== "listOrders" ? undefined : "is not an array";
  }
  if (status === 204) {
    if (!hasKey || method !== "DELETE") return "cancels for someone who may not";
    return body === "" ? undefined : "has a body";
  }
  if (values.get("content-type") !== "application/json") return "is not JSON";
  if (values.get("cache-control") !== "no-store") return "may be cached";
  if (body === "") return method === "HEAD" ? undefined : "has no body";
  return bodies.get(body) === status ? undefined : "is not an Error record with its status";
}

function show(bytes: string): string {
  return JSON.stringify(bytes.length > 600 ? `${bytes.slice(0, 500)}... (${bytes.length})` : bytes);
}
