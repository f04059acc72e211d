import { Readable } from "node:stream";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { engineClient, seedOrders } from "../../../infra/local/engine/tables.ts";
import type { LocalStack } from "../../../infra/local/local-stack.ts";
import { type ErrorCode, errorBody, errors } from "../../../shared/errors.ts";
import { exchange, type RawAnswer } from "../faults/pipeline.ts";
import { brokenRequests, correctRequests, type FuzzRequest, fuzzedOrders, marker } from "./fuzz-requests.ts";

/** What came of a run. */
export interface FuzzReport {
  requests: number;
  /** How many answers had each status. */
  statuses: Map<number, number>;
}

export interface FuzzOptions {
  requests: number;
  seed?: number | undefined;
}

const batchSize = 50;

/** Gives a stack the orders that the requests name, for some of them to be cancelled. */
export async function seedFuzzedOrders({ dynamodbEndpoint, tables }: LocalStack): Promise<void> {
  const client = engineClient(dynamodbEndpoint);
  const { first, count } = fuzzedOrders;
  const orders = Array.from({ length: count }, (_, index) => ({
    id: { N: String(first + index) },
    status: { S: "pending" },
  }));
  await seedOrders(client, tables.orders, Readable.from(orders), new AbortController().signal);
  client.destroy();
}

/**
 * Sends requests and checks every answer.
 *
 * @throws Error with the smallest request that is answered wrongly, or is not answered, and the seed that made it.
 */
export async function fuzz({ baseUrl, apiKey: key }: LocalStack, { requests, seed }: FuzzOptions): Promise<FuzzReport> {
  const port = Number(new URL(baseUrl).port);
  const report: FuzzReport = { requests: 0, statuses: new Map() };
  const count = (answers: RawAnswer[]): void => {
    for (const { status } of answers) report.statuses.set(status, (report.statuses.get(status) ?? 0) + 1);
  };
  const property = (send: (request: FuzzRequest[]) => Promise<RawAnswer[]>, from: fc.Arbitrary<FuzzRequest>) =>
    fc.asyncProperty(fc.array(from, { minLength: 1, maxLength: batchSize, size: "max" }), async (batch) => {
      count(await send(batch));
      report.requests += batch.length;
    });
  const correct = property((batch) => sendCorrect(port, batch), correctRequests(key));
  const broken = property((batch) => sendBroken(port, batch), brokenRequests(key));
  for (let round = 0; report.requests < requests; round += 1) {
    const numRuns = Math.min(20, Math.ceil((requests - report.requests) / batchSize));
    const parameters = { numRuns, interruptAfterTimeLimit: 600_000, ...(seed !== undefined && { seed: seed + round }) };
    await fc.assert(round % 5 === 4 ? broken : correct, parameters);
  }
  return report;
}

/** Pipelines correct requests over one connection: as many answers, in their order. */
async function sendCorrect(port: number, batch: FuzzRequest[]): Promise<RawAnswer[]> {
  const last = "GET /v1/nope HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  const bytes = batch.map((request) => request.bytes).join("") + last;
  const { answers, rest } = await exchange(port, bytes, { bodiless: (index) => batch[index]?.method === "HEAD" });
  const unanswered = batch[answers.length];
  if (unanswered !== undefined) throw new Error(`No answer to ${show(unanswered.bytes)}, but ${show(rest)}`);
  if (answers.length !== batch.length + 1 || rest !== "") throw new Error(`More than answers: ${show(rest)}`);
  for (const [index, request] of batch.entries()) check(request, answers[index]);
  return answers.slice(0, -1);
}

/** Sends each request over a connection of its own and closes it; whoever is cut off may get half an answer, or none. */
async function sendBroken(port: number, batch: FuzzRequest[]): Promise<RawAnswer[]> {
  const answers = batch.map(async (request) => {
    const { bytes } = request;
    const received = await exchange(port, bytes, {
      // What never became a request was not known for a HEAD either.
      bodiless: (_, following) => bytes.startsWith("HEAD") && !following.startsWith("{"),
      finish: true,
    });
    // What was one request can have become two.
    for (const answer of received.answers) check({ ...request, method: "" }, answer);
    if (received.rest !== "" && !/^HTTP\/1\.1 200 /.test(received.rest)) {
      throw new Error(`${show(bytes)} has ${show(received.rest)}`);
    }
    return received.answers;
  });
  return (await Promise.all(answers)).flat();
}

/** @throws Error when the answer is neither the contract's nor an Error record of the catalogue. */
function check({ method, bytes, hasKey }: FuzzRequest, answer: RawAnswer | undefined): void {
  const wrong = answer === undefined ? "is missing" : whatIsWrong(answer, method, hasKey);
  if (wrong !== undefined) throw new Error(`The answer ${wrong}: ${show(bytes)} has ${JSON.stringify(answer)}`);
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

function whatIsWrong({ status, headers, body }: RawAnswer, method: string, hasKey: boolean): string | undefined {
  const values = new Map(headers);
  for (const [name, value] of headers) {
    if (!headerNames.has(name)) return `has the header ${name}`;
    if (name === "x-amzn-requestid" ? !/^[\w-]{1,128}$/.test(value) : value.includes(marker))
      return "repeats its request";
  }
  if (status === 100) return undefined;
  if (status === 200) {
    if (!hasKey || (method !== "GET" && method !== "")) return "lets in who may not enter";
    const bytes = Buffer.from(body, "latin1");
    const list = values.get("content-encoding") === "gzip" ? gunzipSync(bytes) : bytes;
    return Array.isArray(JSON.parse(list.toString())) ? undefined : "is no list";
  }
  if (status === 204) {
    if (!hasKey || (method !== "DELETE" && method !== "")) return "lets in who may not enter";
    return body === "" ? undefined : "has a body";
  }
  if (values.get("content-type") !== "application/json") return "is no JSON";
  if (values.get("cache-control") !== "no-store") return "may be stored";
  if (body === "") return method === "HEAD" || method === "" ? undefined : "has no body";
  return bodies.get(body) === status ? undefined : "is no Error record of its status";
}

function show(bytes: string): string {
  return JSON.stringify(bytes.length > 600 ? `${bytes.slice(0, 500)}... (${bytes.length})` : bytes);
}
