import { once } from "node:events";
import { request } from "node:http";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { FunctionFailure } from "../../../infra/tools/local/lambda/execution-environment.ts";
import { beforeTests } from "../../helpers/before-tests.ts";
import { expectError } from "../../helpers/expect-error.ts";
import { send } from "../../helpers/send.ts";
import { authorizer, invoking, mock, orders, startPets, streaming } from "./pets.ts";

/** What the latest response streams, and the signal of its invocation. */
let body: PassThrough;
let signal: AbortSignal | undefined;

const pets = beforeTests(async (running) =>
  running.use(
    await startPets(
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
        "GET /buffered": invoking("streams"),
        "GET /streamed": streaming("streams"),
      },
      {
        returns: async (event) => {
          const returned = JSON.parse(event["body"] ?? "");
          if (returned.error) throw new FunctionFailure(returned.error);
          return { returned };
        },
        streams: async (_event, given) => {
          signal = given;
          body = new PassThrough();
          body.write("[1,2");
          return { returned: { statusCode: 200 }, body };
        },
      },
    ),
  ),
);

async function open(url: string) {
  const [response] = await once(request(url, { agent: false }).end(), "response");
  return response;
}

test.each(
  Object.entries({
    "GET /pets//": "200 /pets null",
    "GET /pets/1": "203 undefined undefined",
    "GET /pets/best": "200 /pets/best null",
    "PUT /pets/best": '200 /pets/{petId} {"petId":"best"}',
    "PUT /pets/a%20b%2Fc": '200 /pets/{petId} {"petId":"a b/c"}',
    "PUT /pets/%2531": '200 /pets/{petId} {"petId":"%31"}',
    "PUT /pets/%zz": '200 /pets/{petId} {"petId":"%zz"}',
    "GET /PETS": '200 /{proxy+} {"proxy":"PETS"}',
    "GET /pets//1": '200 /{proxy+} {"proxy":"pets//1"}',
    "GET /cats/../pets": '200 /{proxy+} {"proxy":"cats/../pets"}',
    "PATCH /cats": '200 /{section} {"section":"cats"}',
  }),
)(
  "%s goes to the most specific route with its method, then any: %s",
  async (line, seen) => {
    const [method = "", path = ""] = line.split(" ");
    const { status, body } = await pets.call(path, { method });
    const { resource, pathParameters } = JSON.parse(body).event ?? {};
    expect(`${status} ${resource} ${JSON.stringify(pathParameters)}`).toBe(seen);
  },
);

test("a function's event has the fields that API Gateway sends", async () => {
  const target = "http://pets.example/v1/pets/1?a=1&a=2&c=d?e";
  const headers = { host: "pets", "X-Pet": ["cat", "meow"] };
  const sent = { method: "PUT", target, headers, body: "meow" };
  const response = await send(pets.baseUrl, sent);
  const { event } = JSON.parse(response.body);
  expect(event.requestContext.requestId).toBe(response.headers["x-amzn-requestid"]);
  event.requestContext.requestId = "ID";
  const lines = Object.entries(event).map((field) => JSON.stringify(field));
  expect(lines.join("\n")).toMatchInlineSnapshot(`
    "["resource","/pets/{petId}"]
    ["path","/pets/1"]
    ["httpMethod","PUT"]
    ["headers",{"host":"pets","content-length":"4","x-pet":"meow","connection":"close"}]
    ["multiValueHeaders",{"host":["pets"],"content-length":["4"],"x-pet":["cat","meow"],"connection":["close"]}]
    ["queryStringParameters",{"a":"2","c":"d?e"}]
    ["multiValueQueryStringParameters",{"a":["1","2"],"c":["d?e"]}]
    ["pathParameters",{"petId":"1"}]
    ["requestContext",{"httpMethod":"PUT","identity":{"sourceIp":"127.0.0.1"},"path":"/v1/pets/1","requestId":"ID","resourcePath":"/pets/{petId}","stage":"v1"}]
    ["body","meow"]
    ["isBase64Encoded",false]"
  `);
});

describe("a function", () => {
  // The function has logged its own failure.
  const failed = "502 application/json 19 INTEGRATION_FAILURE";
  const unusable = `${failed} The local gateway failed: ZodError`;
  const send = (returned: object, method = "POST") =>
    pets.call("/returns", { method, body: JSON.stringify(returned) });

  test.each([
    [{ statusCode: 200, body: "é" }, "200 application/json 2 é"],
    [
      { statusCode: 599, headers: { "Content-Type": "text/plain", "X-New": "true" } },
      "599 text/plain 0 true",
    ],
    [{ statusCode: 304 }, "304 application/json"],
    [{ error: "a bug" }, failed],
    [{ statusCode: 199 }, unusable],
    [{ statusCode: 600 }, unusable],
    [{ status: 200 }, unusable],
    [{ statusCode: 200, body: {} }, unusable],
    [{ statusCode: 200, isBase64Encoded: true, body: "w6k=" }, unusable],
  ])("that returns %j is seen as %s", async (returned, seen) => {
    pets.log.length = 0;
    const { status, headers, body } = await send(returned);
    const { "content-type": type, "content-length": length, "x-new": added } = headers;
    const logged = pets.log.join().split(": ", 2).join(": ");
    const shown = [status, type, length, added, body, logged];
    expect(shown.filter(Boolean).join(" ")).toBe(seen);
  });

  test("whose integration streams must stream", async () => {
    expect((await send({}, "PUT")).status).toBe(502);
  });

  test("that streams, though its integration doesn't, is cut off", async () => {
    expect((await pets.call("/buffered")).status).toBe(502);
    await expect.poll(() => signal?.aborted).toBe(true);
  });

  test("that fails while it streams breaks its response off; one whose client leaves is aborted", async () => {
    const url = `${pets.baseUrl}/streamed`;
    const response = await open(url);
    body.destroy(new Error("a bug"));
    await expect(text(response)).rejects.toThrow("aborted");
    (await open(url)).destroy();
    await expect.poll(() => signal?.aborted).toBe(true);
  });
});

test.each(["/v1", "/v2/pets", "/V1/pets"])(
  "without its gateway response, %s is an empty 500",
  async (path) => {
    const response = await send(new URL(path, pets.baseUrl).href);
    expect(response).toMatchObject({ status: 500, body: "" });
  },
);

test.each([
  [false, { 28999: 0, 29000: 1, 899999: 1, 900000: 2 }],
  [true, { 900000: 0 }],
])(
  "requests to functions that hang, debugged: %j, end by these milliseconds: %j",
  async (inspect, ended) => {
    const routes = {
      "GET /hang": invoking("hang"),
      "GET /hang/long": streaming("hang", { TimeoutInMillis: 900_000 }),
      "GET /pets": mock(200),
    };
    let hanging = 0;
    const hang = (_event: object, signal = AbortSignal.any([])) => {
      hanging += 1;
      return new Promise<never>((_, reject) => {
        signal.onabort = () => reject(signal.reason);
      });
    };
    using hung = await startPets(routes, { hang }, { inspect });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const bodies: string[] = [];
    for (const path of ["/hang", "/hang/long"])
      hung.call(path).then(
        ({ body }) => bodies.push(body),
        () => {},
      );
    while (hanging < 2) await setImmediate();
    let now = 0;
    for (const [time, count] of Object.entries(ended)) {
      await vi.advanceTimersByTimeAsync(Number(time) - now);
      now = Number(time);
      await hung.call("/pets");
      expect(bodies).toEqual(Array(count).fill("INTEGRATION_TIMEOUT"));
    }
  },
);

describe("every nth", () => {
  const routes = {
    "GET /pets": invoking("echo"),
    "GET /orders": streaming("orders"),
    "GET /keys": mock(200, authorizer("Keys")),
    "GET /other": mock(205),
  };

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
      ["/pets", "/keys", "/other", "/pets", "/orders", "/other", "/pets"],
      [200, 401, 205, 503, 200, 205, 503],
    ],
  ])("request fails on demand: %j", async (options, paths, statuses) => {
    using failing = await startPets(routes, { orders }, options);
    const responses = [];
    for (const path of paths) responses.push(await failing.call(path));
    expect(responses.map(({ status }) => status)).toEqual(statuses);
    const [unavailable] = responses.filter(({ status }) => status === 503);
    if (unavailable) expectError(unavailable, "service_unavailable");
  });

  test("list is cut off midway on demand", async () => {
    using cutting = await startPets(routes, { orders }, { cut: 2 });
    for (const _ of ["first", "second"]) {
      expect((await cutting.call("/orders")).body).toBe('[{"id":1},{"id":2}]');
      await cutting.call("/pets");
      const response = await open(`${cutting.baseUrl}/orders`);
      const [chunk] = await once(response, "data");
      expect(`${chunk}`).toBe('[{"id":1},');
      await expect(once(response, "end")).rejects.toThrow("aborted");
    }
  });
});
