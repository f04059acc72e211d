import dns from "node:dns";
import {
  type DynamoDBClient,
  type DynamoDBClientConfig,
  ListTablesCommand,
  PutItemCommand,
  ScanCommand,
} from "@aws-sdk/client-dynamodb";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { engineClient } from "../../infra/tools/running-stacks/engine-client.ts";
import { callFailed, createClient, mayBeApplied } from "../../shared/dynamodb.ts";
import { mostAttempts, requestId, response, startFakeTable } from "./fake-table.ts";

const table = await startFakeTable();

/** A client that never times out by chance, until the test ends. */
function patientClient(
  requestTimeout = 5_000,
  settings: DynamoDBClientConfig = {},
  connectionTimeout = 5_000,
): DynamoDBClient {
  const { endpoint } = table;
  const limits = { connectionTimeout, requestTimeout, maxAttempts: 3 };
  const client = createClient(limits, { endpoint, ...settings });
  onTestFinished(() => client.destroy());
  return client;
}

/** Replaces the pauses between attempts, the longest there can be. @returns their milliseconds. */
function spyOnPauses(): number[] {
  const pauses: number[] = [];
  vi.spyOn(Math, "random").mockReturnValue(0.9999);
  const { setTimeout: realSetTimeout } = globalThis;
  const fake = (callback: () => void, milliseconds = 0) => {
    // The timeouts of the HTTP handler are whole seconds.
    if (milliseconds % 1000 === 0) return realSetTimeout(callback, milliseconds);
    pauses.push(milliseconds);
    return realSetTimeout(callback, 0);
  };
  vi.spyOn(globalThis, "setTimeout").mockImplementation(fake as typeof setTimeout);
  return pauses;
}

test.each([
  ["no response", "", "No whole response of DynamoDB (ETIMEDOUT)"],
  [
    "only the head of a response",
    `HTTP/1.1 200 OK\r\n${requestId}Content-Length: 2\r\n\r\n`,
    "DynamoDB's response was incomplete or malformed (HTTP 200)",
  ],
])("a client times out every attempt that gets %s", async (_, bytes, message) => {
  table.respond = () => ({ unfinished: bytes });
  // Counted by the SDK: on a busy machine an attempt may be over before the server hears of it.
  expect(await failureOf(patientClient(300))).toMatchObject({
    error: { ...lost, message, cause: { name: "TimeoutError" } },
    unsettled: true,
  });
});

test("a client sends the trace id of the invocation that it works for", async () => {
  vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "ListOrders");
  const sent: unknown[] = [];
  table.respond = (_attempt, headers) => {
    sent.push(headers["x-amzn-trace-id"]);
    return response(200, "{}");
  };
  const client = patientClient();
  const traceIds = ["Root=1-1-1", "Root=1-2-2"];
  for (const traceId of traceIds) {
    vi.stubEnv("_X_AMZN_TRACE_ID", traceId);
    await client.send(new ListTablesCommand());
  }
  expect(sent).toEqual(traceIds);
});

// The time budgets of the functions (time-budgets.test.ts) count on these.
test("a client doubles its pause after each failed, lost or throttled attempt, however many came before", async () => {
  const pauses = spyOnPauses();
  const client = patientClient();
  const failures = [
    { bytes: response(500, '{"__type":"InternalServerError"}'), longest: [24, 49] },
    { bytes: response(200, ""), longest: [24, 49] },
    { bytes: response(400, '{"__type":"ThrottlingException"}'), longest: [999, 1999] },
    {
      bytes: response(400, '{"__type":"TransactionConflictException"}'),
      longest: [999, 1999],
    },
  ];
  // The SDK's own quota would end in round 7; with one of two retries given back, in round 14.
  for (let round = 1; round <= 20; round += 1)
    for (const { bytes, longest } of failures) {
      table.respond = () => bytes;
      await expect(client.send(new ListTablesCommand({}))).rejects.toThrow();
      expect(pauses.splice(0), `round ${round}`).toEqual(longest);
    }
});

test("a client has no middleware for log lines", () => {
  const middleware = patientClient().middlewareStack.identify();
  expect(middleware.join()).not.toContain("loggerMiddleware");
  expect(middleware).not.toEqual([]);
});

const failed = (fields: object) => Object.assign(new Error("secret"), fields);

test.each([
  [failed({ name: "ThrottlingException" }), "service_unavailable"],
  [failed({ $metadata: { httpStatusCode: 500 } }), "service_unavailable"],
  // From something on the way to the table.
  [failed({ $metadata: { httpStatusCode: 507 } }), "service_unavailable"],
  [failed({ name: "TimeoutError" }), "service_unavailable"],
  [failed({ name: "AbortError" }), "service_unavailable"],
  [failed({ name: "ResourceNotFoundException" }), "internal_error"],
  [new TypeError("secret"), "internal_error"],
  [null, "internal_error"],
])("a call that fails with %o is %s", (cause, code) => {
  expect(callFailed(cause)).toMatchObject({ code, cause });
});

/** A client whose every attempt fails like this before it has a response. */
function failingClient(...failures: unknown[]): DynamoDBClient {
  const client = patientClient();
  const handle = vi.fn(async () => {
    const isEndless = handle.mock.calls.length > mostAttempts;
    throw isEndless ? new TypeError("Too many attempts") : failures.at(-1);
  });
  for (const failure of failures.slice(0, -1)) handle.mockRejectedValueOnce(failure);
  Object.assign(client.config, { requestHandler: { handle } });
  return client;
}

const system = (code: string, syscall?: string) => failed({ code, syscall });
const refused = system("ECONNREFUSED", "connect");
const reset = system("ECONNRESET", "read");
const write = new PutItemCommand({ TableName: "orders", Item: { id: { N: "1" } } });

/** How a call fails, which it must. */
async function failureOf(client: DynamoDBClient) {
  // Ends a call that is repeated for ever.
  const abortSignal = AbortSignal.timeout(15_000);
  const error = await client.send(write, { abortSignal }).then(
    () => expect.unreachable(),
    (thrown: unknown) => thrown,
  );
  return { error, code: callFailed(error).code, unsettled: mayBeApplied(error) };
}
const lost = { name: "LostCallError", $metadata: { attempts: 3 } };

test.each<[when: string, mayBeApplied: boolean, failures: Error[]]>([
  ["no name is resolved", false, [system("ENOTFOUND", "getaddrinfo")]],
  ["the resolver is busy", false, [system("EBUSY", "getaddrinfo")]],
  ["there are no more sockets", false, [system("EMFILE", "connect")]],
  ["connections are rejected", false, [refused]],
  ["every address rejects connections", false, [new AggregateError([refused, refused])]],
  ["only one address rejects them", true, [new AggregateError([refused, reset])]],
  ["the connection is reset", true, [reset]],
  ["TLS fails", true, [system("EPROTO", "write")]],
  ["a TLS alert arrives", true, [system("ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR")]],
  ["the response is not HTTP", true, [system("HPE_INVALID_CONSTANT")]],
  ["anything else happens", true, [system("ESOMETHING")]],
  ["only its first attempt may have been sent", true, [reset, refused]],
])(
  "a call is lost when %s; it may have been applied: %s",
  async (_, unsettled, failures) => {
    const failure = { error: lost, code: "service_unavailable", unsettled };
    expect(await failureOf(failingClient(...failures))).toMatchObject(failure);
  },
);

test("a call is lost when no connection is made in time; it may have been applied: false", async () => {
  // No response, and no error.
  using _lookup = vi.spyOn(dns, "lookup").mockReturnValue();
  const settings = { endpoint: "http://table.test" };
  const client = patientClient(5_000, settings, 10);
  expect(await failureOf(client)).toMatchObject({ error: lost, unsettled: false });
});

test("a call that can't get its credentials was not applied, though it can't reach them", async () => {
  const client = patientClient(5_000, { credentials: () => Promise.reject(reset) });
  const { error, unsettled } = await failureOf(client);
  expect(error).toBe(reset);
  expect(unsettled).toBe(false);
});

test.each([
  [new TypeError("Invalid character in header content"), false],
  // Our own deadline, or an operator's Ctrl-C.
  [failed({ name: "AbortError" }), true],
])("a call isn't repeated after %s; it may have been applied: %s", async (...row) => {
  const [thrown, unsettled] = row;
  const failure = await failureOf(failingClient(thrown));
  expect(failure.error).toBe(thrown);
  expect(failure).toMatchObject({ error: { $metadata: { attempts: 1 } }, unsettled });
});

test.each([
  ["AccessDeniedException", 1],
  ["ExpiredTokenException", 1],
  ["UnrecognizedClientException", 1],
  ["ValidationException", 1],
  ["InvalidSignatureException", 1],
  ["ThrottlingException", 3],
  ["TransactionConflictException", 3],
])(
  "a call that DynamoDB rejects with %s makes %i attempts, and keeps that error",
  async (...row) => {
    const [name, attempts] = row;
    spyOnPauses();
    table.respond = () => response(400, `{"__type":"com.amazon.coral#${name}"}`);
    const error = { name, $metadata: { attempts } };
    expect(await failureOf(patientClient())).toMatchObject({ error, unsettled: false });
    expect(table.attempts).toBe(attempts);
  },
);

test.each([
  ["was lost", response(200, "")],
  ["failed in DynamoDB", response(500, '{"__type":"InternalServerError"}')],
])(
  "a call whose first attempt %s may have been applied, whatever ends it",
  async (...row) => {
    const expired = response(400, '{"__type":"ExpiredTokenException"}');
    table.respond = (attempt) => (attempt === 1 ? row[1] : expired);
    expect(await failureOf(patientClient())).toMatchObject({
      error: { name: "ExpiredTokenException" },
      code: "internal_error",
      unsettled: true,
    });
  },
);

test.each([
  { seconds: 1, attempts: 1 },
  { seconds: 600, attempts: 2 },
  { seconds: -600, attempts: 2 },
])(
  "a call by a clock that is $seconds s off makes $attempts attempts, and the next one is rejected after 1",
  async ({ seconds, attempts }) => {
    let inTime = response(200, "{}");
    table.respond = (_attempt, headers) => {
      const now = new Date(Date.now() + seconds * 1000);
      const signed = String(headers["x-amz-date"]).replace(
        /(....)(..)(..T..)(..)/,
        "$1-$2-$3:$4:",
      );
      const isSkewed = Math.abs(Date.parse(signed) - now.getTime()) > 300_000;
      const bytes = isSkewed
        ? response(400, '{"__type":"InvalidSignatureException"}')
        : inTime;
      return bytes.replace(requestId, `${requestId}Date: ${now.toUTCString()}\r\n`);
    };
    const client = patientClient();
    await client.send(write);
    expect(table.attempts).toBe(attempts);
    inTime = response(400, '{"__type":"AccessDeniedException"}');
    const failure = { error: { name: "AccessDeniedException" }, code: "internal_error" };
    expect(await failureOf(client)).toMatchObject(failure);
    expect(table.attempts).toBe(attempts + 1);
  },
);

describe.each([
  ["the service", patientClient],
  ["the tools on a local engine", () => engineClient(table.endpoint)],
])("a client of %s repeats a call after", (_, makeClient) => {
  const ok = `HTTP/1.1 200 OK\r\nConnection: close\r\n${requestId}`;
  test.each([
    ["an empty response without a length", `${ok}\r\n`],
    ["an empty response with a length", response(200, "")],
    ["a response that ends after a brace", `${ok}\r\n{"Items":[{"id":{"N":"1"}}`],
    ["a response that isn't JSON", response(200, "<html></html>")],
    ["a response without a request id", response(200, "{}", "")],
    ["a response that isn't HTTP", "220 mail.test ESMTP\r\n"],
    ["an error without a type", response(400, '{"message":"Blocked"}')],
    ["an error of a proxy", response(403, '{"code":"Forbidden"}', "")],
    ["an error with a number for a type", response(404, '{"code":404}')],
    ["an error with a malformed type", response(400, '{"__type":{}}')],
  ])("%s", async (_response, bytes) => {
    // Every third attempt succeeds.
    table.respond = (attempt) =>
      attempt % 3 === 0 ? response(200, '{"Items":[]}') : bytes;
    const client = makeClient();
    const third = { $metadata: { attempts: 3 } };
    const scan = client.send(new ScanCommand({ TableName: "orders" }));
    expect(await scan).toMatchObject({ ...third, Items: [] });
    expect(await client.send(write)).toMatchObject(third);
    client.destroy();
  });
});
