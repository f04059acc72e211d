import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { LocalStackOptions } from "../../infra/local/local-stack.ts";
import { responseProblems } from "../../infra/smoke/document.ts";
import { expectError } from "../helpers/expect-error.ts";
import { send } from "../helpers/send.ts";
import { ownLines } from "../helpers/trouble.ts";
import { invoking, mock, startPets, streaming, until } from "./pets.ts";

const { baseUrl, call, dynamodbEndpoint, log, pids, stop } = await startPets(
  {
    "GET /pets": invoking("echo"),
    "ANY /pets/{petId}": invoking("echo"),
    "GET /pets/{petId}": mock(203),
    "GET /pets/best": invoking("echo"),
    "ANY /{proxy+}": invoking("echo"),
    "PATCH /{proxy+}": mock(205),
    "PATCH /{section}": invoking("echo"),
    "POST /returns": invoking("returns"),
    "PUT /returns": streaming("returns"),
    "GET /flood": invoking("flood"),
    "GET /fail": invoking("fail"),
  },
  { maxEnvironments: 1 },
);
afterAll(stop);

test("a request goes to the most specific route that has its method, then any", async () => {
  const lines = [];
  for (const line of [
    "GET /pets",
    "GET /pets//",
    "GET /pets/1",
    "GET /pets/best",
    "PUT /pets/best",
    "PUT /pets/a%20b%2Fc",
    // Decoded once.
    "PUT /pets/%2531",
    "PUT /pets/%zz",
    "PUT /pets",
    "GET /Pets",
    "GET /pets//1",
    // A segment like any other.
    "GET /cats/../pets",
    "PATCH /cats",
  ]) {
    const [method = "", path = ""] = line.split(" ");
    const { status, body } = await call(path, { method });
    const { event = {} } = JSON.parse(body);
    const seen = [
      event.resource,
      event.pathParameters,
      event.queryStringParameters,
      event.body,
    ];
    lines.push(`${line} ${status} ${JSON.stringify(seen)}`);
  }
  expect(lines.join("\n")).toMatchInlineSnapshot(`
    "GET /pets 200 ["/pets",null,null,null]
    GET /pets// 200 ["/pets",null,null,null]
    GET /pets/1 203 [null,null,null,null]
    GET /pets/best 200 ["/pets/best",null,null,null]
    PUT /pets/best 200 ["/pets/{petId}",{"petId":"best"},null,null]
    PUT /pets/a%20b%2Fc 200 ["/pets/{petId}",{"petId":"a b/c"},null,null]
    PUT /pets/%2531 200 ["/pets/{petId}",{"petId":"%31"},null,null]
    PUT /pets/%zz 200 ["/pets/{petId}",{"petId":"%zz"},null,null]
    PUT /pets 200 ["/{proxy+}",{"proxy":"pets"},null,null]
    GET /Pets 200 ["/{proxy+}",{"proxy":"Pets"},null,null]
    GET /pets//1 200 ["/{proxy+}",{"proxy":"pets//1"},null,null]
    GET /cats/../pets 200 ["/{proxy+}",{"proxy":"cats/../pets"},null,null]
    PATCH /cats 200 ["/{section}",{"section":"cats"},null,null]"
  `);
});

test("a function's event has the fields that API Gateway sends", async () => {
  const path = "http://pets.example/v1/pets/1?a=1&a=2&c&from=http://cats.example?d";
  // A value that is another header's name is not taken for that header.
  const headers = {
    host: "pets",
    "X-Pet": ["cat", "Accept"],
    "x-amzn-requestid": "request_1-a",
  };
  const sent = request(baseUrl, { method: "PUT", path, headers, agent: false }).end("meow");
  const [response] = await once(sent, "response");
  expect(response.headers["x-amzn-requestid"]).toBe("request_1-a");
  expect(JSON.parse(await text(response)).event).toMatchInlineSnapshot(`
    {
      "body": "meow",
      "headers": {
        "Connection": "close",
        "Content-Length": "4",
        "X-Pet": "Accept",
        "host": "pets",
        "x-amzn-requestid": "request_1-a",
      },
      "httpMethod": "PUT",
      "isBase64Encoded": false,
      "multiValueHeaders": {
        "Connection": [
          "close",
        ],
        "Content-Length": [
          "4",
        ],
        "X-Pet": [
          "cat",
          "Accept",
        ],
        "host": [
          "pets",
        ],
        "x-amzn-requestid": [
          "request_1-a",
        ],
      },
      "multiValueQueryStringParameters": {
        "a": [
          "1",
          "2",
        ],
        "c": [
          "",
        ],
        "from": [
          "http://cats.example?d",
        ],
      },
      "path": "/pets/1",
      "pathParameters": {
        "petId": "1",
      },
      "queryStringParameters": {
        "a": "2",
        "c": "",
        "from": "http://cats.example?d",
      },
      "requestContext": {
        "httpMethod": "PUT",
        "identity": {
          "sourceIp": "127.0.0.1",
        },
        "path": "/v1/pets/1",
        "requestId": "request_1-a",
        "resourcePath": "/pets/{petId}",
        "stage": "v1",
      },
      "resource": "/pets/{petId}",
    }
  `);
});

test.each(["request 1", "x".repeat(129)])("the request id %j is replaced", async (id) => {
  const { headers } = await call("/pets/1", { headers: { "x-amzn-requestid": id } });
  expect(headers["x-amzn-requestid"]).toMatch(/^[\da-f-]{36}$/);
});

test("a MOCK method accepts a listed content type in any case and with parameters", async () => {
  const headers = { "content-type": "Application/JSON ;charset=utf-8" };
  expect(await call("/pets/1", { headers })).toMatchObject({ status: 203 });
});

test("a MOCK method rejects a content type that its template does not list", async () => {
  const headers = { "content-type": "image/png" };
  expect(await call("/pets/1", { headers })).toMatchObject({
    status: 415,
    headers: { "retry-after": "7" },
    body: "UNSUPPORTED_MEDIA_TYPE",
  });
});

describe("a function", () => {
  test("may return a status, text headers and a text, and nothing else", async () => {
    const lines = [];
    for (const returned of [
      { statusCode: 200, body: "é" },
      { statusCode: 201, headers: { "Content-Type": "text/plain", "X-New": "true" } },
      // It has no length.
      { statusCode: 304 },
      { statusCode: 199 },
      { statusCode: 600 },
      { statusCode: 200.5 },
      { status: 200 },
      { statusCode: 200, body: {} },
      { statusCode: 200, isBase64Encoded: true, body: "w6k=" },
    ]) {
      const sent = JSON.stringify(returned);
      const { status, headers, body } = await call("/returns", {
        method: "POST",
        body: sent,
      });
      const { "content-type": type, "content-length": length = "no length" } = headers;
      lines.push([sent, status, type, headers["x-new"], length, body].join(" ").trim());
    }
    expect(lines.join("\n")).toMatchInlineSnapshot(`
      "{"statusCode":200,"body":"é"} 200 application/json  2 é
      {"statusCode":201,"headers":{"Content-Type":"text/plain","X-New":"true"}} 201 text/plain true 0
      {"statusCode":304} 304 application/json  no length
      {"statusCode":199} 502 application/json  19 INTEGRATION_FAILURE
      {"statusCode":600} 502 application/json  19 INTEGRATION_FAILURE
      {"statusCode":200.5} 502 application/json  19 INTEGRATION_FAILURE
      {"status":200} 502 application/json  19 INTEGRATION_FAILURE
      {"statusCode":200,"body":{}} 502 application/json  19 INTEGRATION_FAILURE
      {"statusCode":200,"isBase64Encoded":true,"body":"w6k="} 502 application/json  19 INTEGRATION_FAILURE"
    `);
  });

  test("whose integration streams must stream", async () => {
    expect(await call("/returns", { method: "PUT", body: "{}" })).toMatchObject({
      status: 502,
    });
  });

  test("that streams, though its integration doesn't, is cut off", async () => {
    for (const _ of ["first", "second"])
      expect(await call("/flood")).toMatchObject({ status: 502 });
    expect(await pids("flood")).toHaveLength(1);
  });

  test("that fails logs that itself", async () => {
    log.length = 0;
    expect(await call("/fail")).toMatchObject({ status: 502, body: "INTEGRATION_FAILURE" });
    expect(ownLines(log)).toEqual([]);
  });
});

test.each(["/v1", "/v2/pets"])(
  "without its gateway response, %s is an empty 500",
  async (path) => {
    log.length = 0;
    expect(await send(new URL(path, baseUrl).href)).toMatchObject({
      status: 500,
      body: "",
    });
    expect(log).toEqual([
      "The template has no gateway response MISSING_AUTHENTICATION_TOKEN with a status",
    ]);
  },
);

describe("the gateway gives up on a function that hangs", () => {
  const routes = {
    "GET /hang": invoking("hang"),
    "GET /hang/long": streaming("hang", { TimeoutInMillis: 900_000 }),
    "GET /keys": { ...mock(200), authorizer: "Keys" },
    "GET /pets": mock(200),
  };
  const day = 24 * 3600 * 1000;

  test.each([
    ["/hang", false, 29_000, "INTEGRATION_TIMEOUT"],
    ["/hang/long", false, 900_000, "INTEGRATION_TIMEOUT"],
    ["/keys", false, 29_000, "AUTHORIZER_FAILURE"],
    ["/hang", true, day, "INTEGRATION_TIMEOUT"],
    ["/keys", true, day, "AUTHORIZER_FAILURE"],
  ])(
    "at %s when API Gateway would, debugged: %j, after %i ms",
    async (path, inspect, ms, body) => {
      const { call, log, stop } = await startPets(routes, { inspect, dynamodbEndpoint });
      onTestFinished(stop);
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      const responded = vi.fn<() => void>();
      const headers = { authorization: JSON.stringify({ hang: true }) };
      const response = call(path, { headers }).finally(responded);
      await until(() => log.join().includes("hangs"));
      await vi.advanceTimersByTimeAsync(ms - 1);
      await call("/pets");
      expect(responded).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      expect(await response).toMatchObject({ body });
      vi.useRealTimers();
    },
  );
});

describe("every nth", () => {
  async function start(options: LocalStackOptions) {
    const routes = {
      "GET /pets": invoking("echo"),
      "GET /orders": streaming("orders"),
      "GET /keys": { ...mock(200), authorizer: "Keys" },
    };
    const pets = await startPets(routes, { ...options, dynamodbEndpoint });
    onTestFinished(pets.stop);
    return pets;
  }

  test.each([
    // With or without a key.
    [
      { throttle: 3 },
      ["/pets", "/keys", "/pets", "/none", "/keys", "/pets", "/keys"],
      [200, 401, 429, 500, 401, 200, 429],
    ],
    // Once it is admitted to a function.
    [
      { unavailable: 2 },
      ["/pets", "/keys", "/pets", "/orders", "/pets"],
      [200, 401, 503, 200, 503],
    ],
  ])("request fails on demand: %j", async (options, paths, statuses) => {
    const { call } = await start(options);
    const responses = [];
    for (const path of paths) responses.push(await call(path));
    expect(responses.map(({ status }) => status)).toEqual(statuses);
    const [last] = responses.reverse();
    if ("unavailable" in options && last) {
      expectError(last, "service_unavailable");
      expect(responseProblems("GET", "/store/orders", last)).toEqual([]);
    }
  });

  test("list is cut off midway on demand", async () => {
    const { baseUrl, call } = await start({ cut: 2 });
    for (const _ of ["first", "second"]) {
      expect((await call("/orders")).body).toBe('[{"id":1},{"id":2}]');
      await call("/pets");
      const { body, status } = await fetch(`${baseUrl}/orders`);
      let received = "";
      const read = async () => {
        for await (const chunk of body ?? []) received += Buffer.from(chunk).toString();
      };
      await expect(read()).rejects.toThrow("terminated");
      expect([status, received]).toEqual([200, '[{"id":1},']);
    }
  });
});
