import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import * as sdk from "@aws-sdk/client-dynamodb";
import { RegionInfo } from "aws-cdk-lib/region-info";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { bundled } from "../helpers/bundled/bundled.ts";
import * as unbundled from "../helpers/bundled/service-modules.ts";

// The client in the bundles does what the SDK's own does, on which the other tests run.

type Modules = typeof unbundled;
type Client = sdk.DynamoDBClient;

/** An attempt as the table receives it. */
interface Attempt {
  head: unknown;
  body: string;
}

let attempts: Attempt[] = [];
/** Sends the response to an attempt. Attempts of a call count from 1. */
let respond: (socket: Socket, attempt: number) => void;
const table = createServer(async (request, _response) => {
  const { method, url, rawHeaders, socket } = request;
  const body = (await request.toArray()).join("");
  attempts.push({ head: [method, url, ...rawHeaders], body });
  respond(socket, attempts.length);
});
beforeAll(async () => {
  await once(table.listen(0, "127.0.0.1"), "listening");
});
afterAll(() => {
  table.closeAllConnections();
  table.close();
});

const start = Date.parse("2026-11-21T12:00:00Z");
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: start });
  vi.spyOn(Math, "random").mockReturnValue(0);
  vi.spyOn(crypto, "randomUUID").mockReturnValue("7f8b1f5e-0c1d-4c55-9d7a-0e2c3b4a5d6f");
  const { port } = table.address() as AddressInfo;
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", `http://127.0.0.1:${port}`);
  vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "CancelOrder");
  respond = (socket) => socket.end(whole(200, "{}"));
  return () => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  };
});

/** The bytes of a response. */
function whole(status: number, body: string, headers = ""): string {
  const length = Buffer.byteLength(body);
  const head = `Connection: close\r\nx-amzn-RequestId: REQUEST\r\nContent-Length: ${length}`;
  return `HTTP/1.1 ${status} Any\r\n${head}\r\n${headers}\r\n${body}`;
}

function createClient({ createClient }: Modules): Client {
  const client = createClient({
    connectionTimeout: 5000,
    requestTimeout: 5000,
    maxAttempts: 2,
  });
  // Nobody reads who calls, and the signature covers it.
  client.middlewareStack.remove("getUserAgentMiddleware");
  return client;
}

/**
 * Expects that a call with either client sends the same, and ends with the same.
 *
 * @returns the attempts.
 */
async function expectSame(
  call: (modules: Modules, client: Client) => Promise<unknown>,
  about?: unknown,
): Promise<Attempt[]> {
  const observed = [];
  for (const modules of [unbundled, bundled]) {
    vi.setSystemTime(start);
    attempts = [];
    const client = createClient(modules);
    const outcome = await call(modules, client).catch((error) =>
      describeError(modules, error),
    );
    client.destroy();
    observed.push({ outcome, attempts });
  }
  const [ofSdk, ofBundled] = observed;
  expect(ofBundled, String(about)).toEqual(ofSdk);
  return attempts;
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

const cancellation = {
  orderId: 2n ** 63n - 1n,
  cancelledBy: "key_1",
  cancelledAt: new Date(start),
  cancellationId: "invocation",
};
const { signal } = new AbortController();
const scan = async ({ scanOrders }: Modules, client: Client) =>
  Array.fromAsync(scanOrders(client, "orders"));
const cancel = ({ cancelOrder }: Modules, client: Client) =>
  cancelOrder(client, "orders", cancellation);
const update = ({ UpdateItemCommand }: Modules, client: Client) =>
  client.send(new UpdateItemCommand({ TableName: "orders", Key: { id: { N: "1" } } }));

const calls: Record<string, Parameters<typeof expectSame>[0]> = {
  "cancels an order": cancel,
  "updates nothing": ({ updateNothing }, client) => updateNothing(client, "orders", signal),
  "lists two pages of orders": scan,
  "lists one order": ({ scanOne }, client) => scanOne(client, "orders", signal),
  "reads an API key": ({ DynamoDBDocumentClient, readApiKey }, client) =>
    readApiKey(DynamoDBDocumentClient.from(client), "api-keys", "ü"),
};

describe("the client in the bundles sends what the SDK's does, byte for byte, when it", () => {
  test.each(Object.entries(calls))("%s, at the second attempt", async (_, call) => {
    vi.stubEnv("AWS_SESSION_TOKEN", "TOKEN");
    vi.stubEnv("_X_AMZN_TRACE_ID", "Root=1-5759e988-bd862e3fe1be46a994272793");
    const page = { LastEvaluatedKey: { id: { N: "1" } } };
    respond = (socket, attempt) => {
      if (attempt === 1) socket.end(whole(500, "{}"));
      else socket.end(whole(200, JSON.stringify(attempt === 2 ? page : {})));
    };
    expect((await expectSame(call)).length).toBeGreaterThan(1);
  });
});

/** The request that a client would send to a region. */
async function requestTo(modules: Modules): Promise<unknown> {
  const client = createClient(modules);
  let sent: unknown;
  const handle = async ({ body, ...request }: { body: Uint8Array }) => {
    sent = { ...request, body: new TextDecoder().decode(body) };
    throw new Error("sent");
  };
  client.config.requestHandler = { ...client.config.requestHandler, handle } as never;
  await modules.scanOne(client, "orders", signal).catch(() => {});
  client.destroy();
  return JSON.parse(JSON.stringify(sent));
}

describe("the client in the bundles signs and addresses what the SDK's does", () => {
  test.each(RegionInfo.regions.map(({ name }) => name))("in %s", async (region) => {
    vi.stubEnv("AWS_REGION", region);
    vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", undefined);
    const request = await requestTo(bundled);
    expect(request).toMatchObject({
      hostname: expect.stringContaining(`dynamodb.${region}.`),
    });
    expect(request).toEqual(await requestTo(unbundled));
  });

  test.each([
    { AWS_ENDPOINT_URL: "http://localhost:8000", AWS_ENDPOINT_URL_DYNAMODB: undefined },
    {
      AWS_ENDPOINT_URL: "http://localhost:1",
      AWS_ENDPOINT_URL_DYNAMODB: "https://vpce.test",
    },
    { AWS_USE_FIPS_ENDPOINT: "false", AWS_USE_DUALSTACK_ENDPOINT: "false" },
  ])("with %j", async (variables) => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    expect(await requestTo(bundled)).toEqual(await requestTo(unbundled));
  });
});

test.each([
  ["AWS_USE_FIPS_ENDPOINT", "true"],
  ["AWS_USE_DUALSTACK_ENDPOINT", "true"],
  ["AWS_REGION", undefined],
  ["AWS_ACCESS_KEY_ID", undefined],
  ["AWS_SECRET_ACCESS_KEY", undefined],
])("the client in the bundles can't be made when %s is %s, and names it", (name, value) => {
  vi.stubEnv(name, value);
  expect(() => createClient(bundled)).toThrow(name);
});

const item = {
  "N & ü": { L: [{ M: { a: { NULL: true }, b: { SS: ["x", "€"] } } }, { BOOL: false }] },
  id: { N: "-9223372036854775808" },
};

describe("the client in the bundles makes of a response what the SDK's does:", () => {
  test.each([
    [200, { Items: [item, {}], Count: 2, ScannedCount: 2 }],
    [200, { Attributes: item }],
    [400, { __type: "com.amazon.coral.validate#ValidationException", message: "m" }],
    [400, { __type: "com.amazon.coral.service#AccessDeniedException", Message: "M" }],
    [400, { __type: "a.b#ConditionalCheckFailedException", message: "m", Item: item }],
    [400, { __type: "ConditionalCheckFailedException", Message: "M" }],
    [400, { code: "ThrottlingException" }],
    [429, {}],
    [413, {}],
    [302, {}],
  ])("%i %j", async (status, body) => {
    respond = (socket) => socket.end(whole(status, JSON.stringify(body)));
    await expectSame(
      "Items" in body
        ? ({ ScanCommand }, client) => client.send(new ScanCommand({ TableName: "orders" }))
        : update,
    );
  });

  const known = Object.keys(sdk).filter(
    (name) =>
      /(Exception|Error|Exceeded)$/.test(name) && name !== "DynamoDBServiceException",
  );
  test.each([400, 500, 503])(
    "every error that the SDK knows, with the status %i",
    async (status) => {
      expect(known).toContain("ProvisionedThroughputExceededException");
      for (const name of known) {
        const body = { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: "m" };
        respond = (socket) => socket.end(whole(status, JSON.stringify(body)));
        await expectSame(update, name);
      }
    },
  );

  test.each(["", "<html></html>", '{"__type', "null", "[]", '{"__type":5}'])(
    "a status of 200, 400 and 503 with the body %j",
    async (body) => {
      for (const status of [200, 400, 503]) {
        respond = (socket) => socket.end(whole(status, body));
        await expectSame(cancel, status);
      }
    },
  );

  const list = '{"Items":[{"id":{"N":"9007199254740993"}}],"Count":1}   ';
  test.each([
    ["closed, without a length", (body: string) => `\r\n${body}`],
    ["closed before its length", (body: string) => `Content-Length: 56\r\n\r\n${body}`],
    [
      "closed between chunks",
      (body: string) => {
        const chunk = body && `${body.length.toString(16)}\r\n${body}\r\n`;
        return `Transfer-Encoding: chunked\r\n\r\n${chunk}`;
      },
    ],
  ])("a list, cut at each of its 56 bytes and %s", async (_, framed) => {
    expect(list).toHaveLength(56);
    for (let cut = 0; cut <= list.length; cut += 1) {
      const bytes = `HTTP/1.1 200 OK\r\n${framed(list.slice(0, cut))}`;
      respond = (socket) => socket.end(bytes);
      await expectSame(scan, cut);
    }
  });

  test.each([
    ["null for the orders", whole(200, '{"Items":null}')],
    ["an error with 200", whole(200, '{"__type":"InternalServerError"}')],
    ["a number of 39 digits", whole(200, `{"Items":[{"id":{"N":"${"1".repeat(39)}"}}]}`)],
    ["a duplicated key", whole(200, '{"Items":[{"id":{"N":"1"},"id":{"N":"2"}}]}')],
    ["gzip", whole(200, "\u001f\u0008", "Content-Encoding: gzip\r\n")],
  ])("%s", async (_, bytes) => {
    respond = (socket) => socket.end(bytes);
    await expectSame(scan);
  });
});

describe("the client in the bundles corrects a wrong clock as the SDK does", () => {
  const tenMinutesLater = "Date: Sat, 21 Nov 2026 12:10:00 GMT\r\n";

  test("after a rejection, at the next attempt", async () => {
    respond = (socket, attempt) => {
      const body = attempt === 1 ? '{"__type":"a#InvalidSignatureException"}' : "{}";
      socket.end(whole(attempt === 1 ? 400 : 200, body, tenMinutesLater));
    };
    const [, second] = await expectSame(update);
    expect(JSON.stringify(second)).toContain("20261121T121000Z");
  });

  test("after a success, in the next call", async () => {
    respond = (socket) => socket.end(whole(200, "{}", tenMinutesLater));
    const [, second] = await expectSame(async (modules, client) => {
      await update(modules, client);
      await update(modules, client);
    });
    expect(JSON.stringify(second)).toContain("20261121T121000Z");
  });
});

test("the client in the bundles ends a call that is aborted between attempts, as the SDK does", async () => {
  respond = (socket) => socket.end(whole(500, "{}"));
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
