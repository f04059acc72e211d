import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { listen } from "../../infra/local/machine/ports.ts";
import { OrdersClient } from "../../shared/clients/orders-client.ts";
import { type ErrorCode, errorBody, errors } from "../../shared/errors.ts";
import { orderFields } from "../../shared/order.ts";
import { documentFile } from "../helpers/openapi/document.ts";
import { startTestStack, type TestStack } from "../helpers/test-stack.ts";
import { type Call, startClients } from "./orders-clients.ts";

const clients = startClients();
let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
  // The order that API.md's examples cancel.
  await stack.putOrder({ id: { N: "9007199254740993" }, status: { S: "pending" } });
});
afterAll(async () => {
  for (const { stop } of clients) stop();
  await stack?.stop();
});

const timeout = 60_000;
const key = "pets_test_0123";

type Respond = (response: ServerResponse) => void;

const responds =
  (status: number, body: string | Uint8Array = "", headers: Record<string, string> = {}): Respond =>
  (response) =>
    response.writeHead(status, headers).end(body);
const fails = (code: ErrorCode, headers: Record<string, string> = {}): Respond =>
  responds(errors[code].status, errorBody(code), headers);
/** Responds with these bytes, which need not be HTTP. */
const sends =
  (bytes: string): Respond =>
  ({ socket }) =>
    socket?.end(bytes);
const hangUp: Respond = ({ socket }) => socket?.destroy();
const busy = fails("service_unavailable");
const failed = fails("internal_error");
const throttled = (...seconds: string[]) =>
  seconds.map((value) => fails("too_many_requests", { "Retry-After": value }));
const noOrders = responds(200, "[]");
const gzip = { "Content-Encoding": "gzip" };
const zipped = gzipSync('[{"id":1}]');

/** Responses that say nothing for sure, so that another attempt may help. */
const broken: [what: string, respond: Respond][] = [
  ["no response", hangUp],
  ["nothing of HTTP", sends("SSH-2.0-OpenSSH_9.9\r\n")],
  ["an empty 200", responds(200)],
  ["a page", responds(200, "<html>Back soon</html>", { "Content-Type": "text/html" })],
  ["an object", responds(200, "{}")],
  ["an end between orders", responds(200, '[{"id":1},')],
  ["an end within a character", responds(200, Buffer.from([0x5b, 0x22, 0xc3]))],
  ["an end with its connection", sends("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[")],
  ["half of its gzip", responds(200, zipped.subarray(0, 15), gzip)],
  ["gzip that is none", responds(200, "[]", gzip)],
  ["too many levels", responds(200, "[".repeat(1_000_000))],
];
/** Responses that are final, and the error that comes of each. */
const final: [respond: Respond, result: string][] = [
  [fails("forbidden"), "ApiError 403 forbidden"],
  [responds(413, "Too large"), "ApiError 413"],
  ...["{oops", "[1]", "{}", '{"code":5}', Buffer.from([0xc3])].map((body): [Respond, string] => [
    responds(404, body),
    "ApiError 404",
  ]),
  [responds(202, "[]"), "ApiError 202"],
  [responds(204), "ApiError 204"],
  ...[301, 302, 303, 307, 308].map((status): [Respond, string] => [
    responds(status, "", { Location: "http://127.0.0.1:9/v1/store/orders" }),
    `ApiError ${status}`,
  ]),
];

type Scenario = [
  what: string,
  responses: Respond[],
  result: string,
  pauses: number[],
  options?: Partial<Call>,
];
const cancel = { cancel: "4" };
const scenarios: Scenario[] = [
  ...broken.map(
    ([what, respond]): Scenario => [`a list with ${what}`, [respond, noOrders], "[]", [0.5]],
  ),
  ...final.map(([respond, result]): Scenario => [`a list with ${result}`, [respond], result, []]),
  ["a compressed list", [responds(200, zipped, gzip)], '[{"id":1}]', []],
  ["four failures", [busy, busy, busy, failed, noOrders], "[]", [0.5, 1, 2, 4]],
  [
    "five failures",
    [busy, busy, busy, busy, failed],
    "ApiError 500 internal_error",
    [0.5, 1, 2, 4],
  ],
  ["Retry-After", [...throttled("7", "0", "99", "1"), noOrders], "[]", [7.5, 1, 101, 5]],
  ...[
    ["100", "99999999999", "1e9", "Infinity"],
    ["", "Wed, 21 Oct 2026 07:28:00 GMT", "soon", "NaN"],
    ["-1", "1.5", "1, 2", "0x10"],
  ].map(
    (values): Scenario => [
      `Retry-After of no use: ${values}`,
      [...throttled(...values), noOrders],
      "[]",
      [0.5, 1, 2, 4],
    ],
  ),
  [
    "silence, at once and midway",
    [() => {}, (response) => void response.writeHead(200).write("["), noOrders],
    "[]",
    [0.5, 1],
    { timeout: 100 },
  ],
  ["a cancellation with no response", [hangUp, responds(204)], "cancelled", [0.5], cancel],
  ["a cancellation with a page", [responds(200, "<p>"), responds(204)], "cancelled", [0.5], cancel],
  ["a repeated cancellation", [fails("order_already_cancelled")], "cancelled", [], cancel],
  ["a conflict", [fails("order_not_pending")], "ApiError 409 order_not_pending", [], cancel],
  [
    "a conflict's code with another status",
    [responds(404, errorBody("order_already_cancelled"))],
    "ApiError 404 order_already_cancelled",
    [],
    cancel,
  ],
  ["a cancellation with 202", [responds(202)], "ApiError 202", [], cancel],
  ["a cancellation with a redirect", [responds(307)], "ApiError 307", [], cancel],
];

describe.each(clients)("the client in $language", ({ language, call }) => {
  /** Calls a server that responds like this, in turn. */
  async function callServer(responses: Respond[], options: Partial<Call> = {}) {
    const requests: IncomingMessage[] = [];
    const { port, close } = await listen(0, (request, response) => {
      const respond = responses[requests.push(request) - 1] ?? hangUp;
      respond(response);
    });
    onTestFinished(close);
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    const outcome = await call({ baseUrl, apiKey: key, timeout, ...options });
    expect(requests).toHaveLength(outcome.pauses.length + 1);
    return { ...outcome, headers: requests[0]?.headers };
  }

  test("does what the service says", async () => {
    const { baseUrl, apiKey, unknownKey } = stack;
    const { result } = await call({ baseUrl, apiKey, timeout });
    expect(JSON.parse(result)).toHaveLength(stack.seeded + 1);
    expect(result).toContain('{"id":9223372036854775807,"petId":-9223372036854775808}');
    const pending = language === "Python" ? "-9223372036854775808" : "9223372036854775807";
    const calls: [Partial<Call>, string][] = [
      [{ cancel: pending }, "cancelled"],
      [{ cancel: pending }, "cancelled"],
      [{ cancel: "404" }, "ApiError 404 order_not_found"],
      [{ cancel: "102" }, "ApiError 409 order_already_shipped"],
      [{ apiKey: unknownKey }, "ApiError 401 unauthorized"],
    ];
    for (const [options, expected] of calls)
      expect(await call({ baseUrl, apiKey, timeout, ...options })).toMatchObject({
        result: expected,
        pauses: [],
      });
  });

  test.each(scenarios)("copes with %s", async (_what, responses, result, pauses, options) => {
    expect(await callServer(responses, options)).toMatchObject({ result, pauses });
  });

  test("asks for gzip", async () => {
    const { headers } = await callServer([noOrders]);
    expect(headers?.["accept-encoding"]).toContain("gzip");
  });

  test("says why it can't reach a service, and tries no more where that can't help", async () => {
    const { port, close } = await listen(0, () => {});
    onTestFinished(close);
    const noTls = await call({ baseUrl: `https://127.0.0.1:${port}/v1`, apiKey: key, timeout });
    expect(noTls.message).toMatch(/wrong.version|record.layer/i);
    expect(noTls).toMatchObject({ result: "ApiError", pauses: [] });
    await close();
    const closed = await call({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: key, timeout });
    expect(closed.message).toMatch(/^No whole response: .*refused/i);
    expect(closed).toMatchObject({ result: "ApiError", pauses: [0.5, 1, 2, 4] });
  });

  test.each([`${key}\n`, `\uFEFF${key}\r\n`, `  ${key}\t`])("trims the key %j", async (apiKey) => {
    const { result, headers } = await callServer([noOrders], { apiKey });
    expect(result).toBe("[]");
    expect(headers?.authorization).toBe(`Bearer ${key}`);
  });

  test.each<[what: string, respond: Respond]>([
    ["a body", responds(403, `'${key}' not a valid key=value pair in Authorization header`)],
    ["a code", responds(403, JSON.stringify({ code: key }))],
    ["a redirect", responds(302, key, { Location: `/${key}`, "X-Key": key })],
    ["a list", responds(200, key)],
    ["its status line", sends(`HTTP/1.1 ${key}\r\n\r\n`)],
    ["what isn't HTTP", sends(`Authorization: Bearer ${key}\r\n\r\n`)],
  ])("fails without its key where that is echoed in %s", async (_what, respond) => {
    const { result, shown } = await callServer(Array(5).fill(respond));
    expect(result).toMatch(/^ApiError/);
    expect(shown).not.toContain(key);
  });

  const baseUrl = "http://127.0.0.1:9/v1";
  test.each<[what: string, call: Partial<Call>, says: string]>([
    ["no scheme", { baseUrl: "127.0.0.1:9/v1" }, "must look like https://HOST/v1"],
    ["another scheme", { baseUrl: "ftp://127.0.0.1/v1" }, "must look like https://HOST/v1"],
    ["no host", { baseUrl: "http:///v1" }, "must look like https://HOST/v1"],
    ["no port", { baseUrl: "http://127.0.0.1:x/v1" }, "must look like https://HOST/v1"],
    ["no such port", { baseUrl: "http://127.0.0.1:99999/v1" }, "must look like https://HOST/v1"],
    ["a password", { baseUrl: "http://a:b@127.0.0.1/v1" }, "must look like https://HOST/v1"],
    ["the key for an address", { baseUrl: key, apiKey: baseUrl }, "must look like"],
    ["no key", { apiKey: "" }, "The API key is empty"],
    ["a line in the key", { apiKey: `${key}\n${key}` }, "that no header can hold"],
    ["an umlaut in the key", { apiKey: `${key}ä` }, "that no header can hold"],
    ["a scheme in the key", { apiKey: `Bearer ${key}` }, "that no header can hold"],
    ["no time", { timeout: 0 }, "timeout"],
    ["negative time", { timeout: -1 }, "timeout"],
    ["an order id with a fraction", { cancel: "1.5" }, "1.5 is not an "],
    ["an order id that may have lost digits", { cancel: "9007199254740992.0" }, "is not an "],
    ["an order id of 22 digits", { cancel: "1e21" }, "1e+21 is not an "],
    ["a path for an order id", { cancel: '"../4"' }, "is not an "],
    ["a boolean for an order id", { cancel: "true" }, "is not an "],
  ])("sends nothing with %s, and says so without the key", async (_what, options, says) => {
    const outcome = await call({ baseUrl, apiKey: key, timeout, ...options });
    expect(outcome).toMatchObject({
      result: expect.stringMatching(/^(Type|Value|Range)Error$/),
      message: expect.stringContaining(says),
      pauses: [],
    });
    expect(outcome.shown).not.toContain(key);
  });
});

describe("a copy of", () => {
  const page = readFileSync(new URL("API.md", documentFile), "utf8");
  const examples = (tag: string) =>
    [...page.matchAll(new RegExp(`\`\`\`${tag}\\n(.*?)\`\`\``, "gs"))].map(([, code]) => code);
  const [usage, widened] = examples("ts");
  const run = promisify(execFile);
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "orders-clients-"));
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
    for (const file of ["orders-client.ts", "orders_client.py"])
      await copyFile(new URL(`clients/${file}`, documentFile), join(folder, file));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test.each(
    clients.map(({ language }) =>
      language === "Python"
        ? { language, command: "python3", file: "example.py", code: examples("python")[0] }
        : { language, command: process.execPath, file: "example.ts", code: usage },
    ),
  )("the client in $language runs in API.md's example", async ({ command, file, code = "" }) => {
    await writeFile(join(folder, file), code.replace("https://HOST/v1", stack.baseUrl));
    const env = { PATH: process.env["PATH"], API_KEY: stack.apiKey };
    const { stdout } = await run(command, [file], { cwd: folder, env });
    expect(stdout).toContain("9007199254740993");
  });

  test("the client in TypeScript compiles with the fields of the document and no other", async () => {
    const values = { int64: "1n << 62n", "date-time": '"2026-12-24T12:00:00Z"', boolean: "true" };
    const order = orderFields.map(({ name, type }) => `${name}: ${values[type]}`).join(", ");
    const generated = orderFields
      .map(({ name, type }) => `${name}?: ${type === "int64" ? "number" : "never"};`)
      .join(" ");
    const sources = {
      "fields.ts": `import type { Order } from "./orders-client.ts";
        export const order: Required<Order> = { ${order} };
        // @ts-expect-error: no Order has a status.
        order.status;`,
      "usage.ts": `declare const process: { env: { API_KEY?: string } };\n${usage}`,
      "widened.ts": `interface components { schemas: { Order: { ${generated} } } }
        ${widened}
        export const widened: Order = { id: 9223372036854775807n, quantity: 1 };
        // @ts-expect-error: an id is no string.
        widened.id = "1";`,
    };
    for (const [file, source] of Object.entries(sources))
      await writeFile(join(folder, file), source);
    const tsc = fileURLToPath(new URL("bin/tsc", import.meta.resolve("typescript/package.json")));
    const options = "--strict --noEmit --target esnext --module nodenext --lib esnext,dom";
    const compiled = run(
      process.execPath,
      [
        ...[tsc, ...options.split(" "), "--allowImportingTsExtensions", "--types", ""],
        ...Object.keys(sources),
      ],
      { cwd: folder },
    );
    const { stdout, stderr } = await compiled.catch((failure) => failure);
    expect(stdout + stderr).toBe("");
  });
});

test("the client in TypeScript needs a Node.js that tells a number's digits", () => {
  const { parse } = JSON;
  vi.spyOn(JSON, "parse").mockImplementation((text, reviver) =>
    parse(text, (key, value) => reviver?.call({}, key, value)),
  );
  onTestFinished(() => void vi.restoreAllMocks());
  expect(() => new OrdersClient("http://127.0.0.1:9/v1", key)).toThrow("needs Node.js 22 or newer");
});

test.runIf(clients.length > 1)("the client in Python needs Python 3.10", async () => {
  const cwd = fileURLToPath(new URL("clients", documentFile));
  const code = "import sys; sys.version_info = (3, 9); import orders_client";
  const started = promisify(execFile)("python3", ["-B", "-c", code], { cwd });
  await expect(started).rejects.toThrow("ImportError: orders_client needs Python 3.10 or newer");
});
