import * as sdk from "@aws-sdk/client-dynamodb";
import { RegionInfo } from "aws-cdk-lib/region-info";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { bundled } from "../helpers/bundled/bundled.ts";
import * as unbundled from "../helpers/bundled/service-modules.ts";
import { response, startFakeTable } from "./fake-table.ts";

// The client in the bundles does what the SDK's own does, on which the other tests run.

type Modules = typeof unbundled;
type Call = (modules: Modules, client: sdk.DynamoDBClient) => Promise<unknown>;

const table = await startFakeTable();
const start = Date.parse("2026-11-21T12:00:00Z");
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.spyOn(Math, "random").mockReturnValue(0);
  vi.spyOn(crypto, "randomUUID").mockReturnValue("7f8b1f5e-0c1d-4c55-9d7a-0e2c3b4a5d6f");
  vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "CancelOrder");
  return () => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  };
});

function createClient({ createClient }: Modules): sdk.DynamoDBClient {
  const client = createClient({
    connectionTimeout: 5000,
    requestTimeout: 5000,
    maxAttempts: 2,
  });
  // Nobody reads who calls, and the signature covers it.
  client.middlewareStack.remove("getUserAgentMiddleware");
  onTestFinished(() => client.destroy());
  return client;
}

const createClients = () =>
  [unbundled, bundled].map((modules) => ({ modules, client: createClient(modules) }));

/**
 * Expects that a call with either client sends the same, and ends with the same.
 *
 * @returns the attempts.
 */
async function expectSame(call: Call, about?: unknown, clients = createClients()) {
  const observed = [];
  for (const { modules, client } of clients) {
    vi.setSystemTime(start);
    table.attempts = [];
    const outcome = await call(modules, client).catch((error) =>
      describeError(modules, error),
    );
    observed.push({ outcome, attempts: table.attempts });
  }
  const [ofSdk, ofBundled] = observed;
  expect(ofBundled, String(about)).toEqual(ofSdk);
  return table.attempts;
}

/** What is the same about an error whichever client throws it. */
function describeError(modules: Modules, error: unknown): object | undefined {
  if (!(error instanceof Error)) return undefined;
  return {
    ...error,
    name: error.name,
    // The SDK adds a line with a hint.
    message: error.message.split("\n", 1)[0],
    isConditionFailed: error instanceof modules.ConditionalCheckFailedException,
    isThrottled: modules.isThrottled(error),
    isUnavailable: modules.isUnavailable(error),
    cause: describeError(modules, error.cause),
    // By the status for the one, by the error's name for the other. Nothing reads it.
    $fault: undefined,
  };
}

const { signal } = new AbortController();
const list: Call = ({ scanOrders }, client) =>
  Array.fromAsync(scanOrders(client, "orders"));
const scan: Call = ({ ScanCommand }, client) =>
  client.send(new ScanCommand({ TableName: "orders" }));

test.each<[what: string, call: Call]>([
  [
    "cancels an order",
    ({ cancelOrder }, client) =>
      cancelOrder(client, "orders", {
        orderId: 2n ** 63n - 1n,
        cancelledBy: "key_1",
        cancelledAt: new Date(),
        cancellationId: "invocation",
      }),
  ],
  [
    "updates nothing",
    ({ updateNothing }, client) => updateNothing(client, "orders", signal),
  ],
  ["lists two pages of orders", list],
  ["lists one order", ({ scanOne }, client) => scanOne(client, "orders", signal)],
  [
    "reads an API key",
    ({ DynamoDBDocumentClient, readApiKey }, client) =>
      readApiKey(DynamoDBDocumentClient.from(client), "api-keys", "ü"),
  ],
])(
  "the client in the bundles sends the SDK's bytes when it %s, at the second attempt",
  async (_, call) => {
    vi.stubEnv("AWS_SESSION_TOKEN", "TOKEN");
    vi.stubEnv("_X_AMZN_TRACE_ID", "Root=1-5759e988-bd862e3fe1be46a994272793");
    table.respond = (attempt) => {
      const page = attempt === 2 ? '{"LastEvaluatedKey":{"id":{"N":"1"}}}' : "{}";
      return response(attempt === 1 ? 500 : 200, page);
    };
    expect((await expectSame(call)).length).toBeGreaterThan(1);
  },
);

/** The request that a client would send to a region. */
async function requestTo(modules: Modules): Promise<unknown> {
  const client = createClient(modules);
  let sent: unknown;
  // The signature covers the body.
  const handle = async ({ body: _, ...request }: { body: unknown }) => {
    sent = request;
    throw new Error("sent");
  };
  client.config.requestHandler = { ...client.config.requestHandler, handle } as never;
  await scan(modules, client).catch(() => {});
  return sent;
}

const regional = { AWS_ENDPOINT_URL_DYNAMODB: undefined };
test.each<Record<string, string | undefined>>([
  ...RegionInfo.regions.map(({ name }) => ({ ...regional, AWS_REGION: name })),
  { ...regional, AWS_ENDPOINT_URL: "http://localhost:8000" },
  { AWS_ENDPOINT_URL: "http://here", AWS_ENDPOINT_URL_DYNAMODB: "https://vpce.test" },
  { AWS_USE_FIPS_ENDPOINT: "false", AWS_USE_DUALSTACK_ENDPOINT: "false" },
])(
  "the client in the bundles signs and addresses as the SDK's does with %j",
  async (env) => {
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    const request = await requestTo(bundled);
    expect(request).toHaveProperty("headers.authorization");
    expect(request).toEqual(await requestTo(unbundled));
  },
);

test.each([
  ["AWS_USE_FIPS_ENDPOINT", "true"],
  ["AWS_USE_DUALSTACK_ENDPOINT", "true"],
  ["AWS_REGION", ""],
  ["AWS_ACCESS_KEY_ID", undefined],
  ["AWS_SECRET_ACCESS_KEY", undefined],
])(
  "the client in the bundles can't be made when %s is %j, and names it",
  (name, value) => {
    vi.stubEnv(name, value);
    expect(() => createClient(bundled)).toThrow(name);
  },
);

const item = {
  "N & ü": { L: [{ M: { a: { NULL: true }, b: { SS: ["x", "€"] } } }, { BOOL: false }] },
  id: { N: "-9223372036854775808" },
};

describe("the client in the bundles makes of a response what the SDK's does:", () => {
  test.each([
    [200, { Items: [item, {}], Count: 2, ScannedCount: 2 }],
    [400, { __type: "com.amazon.coral.validate#ValidationException", message: "m" }],
    [400, { __type: "com.amazon.coral.service#AccessDeniedException", Message: "M" }],
    [400, { __type: "a.b#ConditionalCheckFailedException", message: "m", Item: item }],
    [400, { __type: "ConditionalCheckFailedException", Message: "M" }],
    [400, { code: "ThrottlingException" }],
    [429, {}],
    [413, {}],
    [302, {}],
  ])("%i %j", async (status, body) => {
    table.respond = () => response(status, JSON.stringify(body));
    await expectSame(scan);
  });

  const known = Object.keys(sdk).filter((name) =>
    /(?<!Service)(Exception|Error|Exceeded)$/.test(name),
  );
  test.each([400, 500, 503])(
    "every error that the SDK knows, with the status %i",
    async (status) => {
      expect(known).toContain("ProvisionedThroughputExceededException");
      const clients = createClients();
      for (const name of known) {
        const body = `{"__type":"com.amazonaws.dynamodb.v20120810#${name}","message":"m"}`;
        table.respond = () => response(status, body);
        await expectSame(scan, name, clients);
      }
    },
  );

  test.each([
    "",
    "<html></html>",
    '{"__type',
    "null",
    "[]",
    '{"__type":5}',
    '{"__type":"InternalServerError"}',
    '{"Items":null}',
    `{"Items":[{"id":{"N":"${"1".repeat(39)}"}}]}`,
    '{"Items":[{"id":{"N":"1"},"id":{"N":"2"}}]}',
  ])("a status of 200, 400 and 503 with the body %j", async (body) => {
    const clients = createClients();
    for (const status of [200, 400, 503]) {
      table.respond = () => response(status, body);
      await expectSame(list, status, clients);
    }
  });

  const orders = '{"Items":[{"id":{"N":"-9"}}]} ';
  test.each([
    ["closed, without a length", (body: string) => `\r\n${body}`],
    ["said to be gzip", (body: string) => `Content-Encoding: gzip\r\n\r\n${body}`],
    ["closed before its length", (body: string) => `Content-Length: 30\r\n\r\n${body}`],
    [
      "closed between chunks",
      (body: string) => {
        const chunk = body && `${body.length.toString(16)}\r\n${body}\r\n`;
        return `Transfer-Encoding: chunked\r\n\r\n${chunk}`;
      },
    ],
  ])("a list, cut at each of its 30 bytes and %s", async (_, framed) => {
    expect(orders).toHaveLength(30);
    const clients = createClients();
    for (let cut = 0; cut <= orders.length; cut += 1) {
      table.respond = () => `HTTP/1.1 200 OK\r\n${framed(orders.slice(0, cut))}`;
      await expectSame(list, cut, clients);
    }
  });
});

test.each([
  ["rejection, at the next attempt", 400, scan],
  [
    "success, in the next call",
    200,
    async (...client: Parameters<Call>) => {
      await scan(...client);
      await scan(...client);
    },
  ],
])(
  "the client in the bundles corrects a wrong clock as the SDK does after a %s",
  async (_, status, call) => {
    table.respond = (attempt) => {
      const body = attempt === 1 ? '{"__type":"InvalidSignatureException"}' : "{}";
      const date = "Date: Sat, 21 Nov 2026 12:10:00 GMT\r\n";
      return response(attempt === 1 ? status : 200, body, date);
    };
    const [, second] = await expectSame(call);
    expect(JSON.stringify(second)).toContain("20261121T121000Z");
  },
);

test("the client in the bundles ends a call that is aborted between attempts, as the SDK does", async () => {
  table.respond = () => response(500, "{}");
  const sent = await expectSame((modules, client) => {
    const controller = new AbortController();
    // Asked for how long to wait before the second attempt.
    vi.spyOn(Math, "random").mockImplementation(() => {
      controller.abort();
      return 1;
    });
    return modules.scanOne(client, "orders", controller.signal);
  });
  expect(sent).toHaveLength(1);
});
