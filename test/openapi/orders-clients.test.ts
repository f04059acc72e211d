import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { listen } from "../../infra/local/machine/ports.ts";
import { OrdersClient } from "../../shared/clients/orders-client.ts";
import { type ErrorCode, errorBody, errors } from "../../shared/errors.ts";
import { orderFields } from "../../shared/order.ts";
import { machineHas } from "../helpers/machine.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { startTestStack } from "../helpers/test-stack.ts";
import { startLineProcess } from "./line-process.ts";
import type { Call, Outcome } from "./orders-client-calls.ts";

const clientFolder = resolve("shared/clients");

function start(language: string, command: string, calls: string) {
  const env = { PYTHONPATH: clientFolder, PYTHONDONTWRITEBYTECODE: "1" };
  const ask = startLineProcess(command, [`test/openapi/${calls}`], env);
  return { language, command, ask };
}

const clients = [start("TypeScript", process.execPath, "orders-client-calls.ts")];
if (machineHas("Python 3.10", "the client in Python"))
  clients.push(start("Python", "python3", "orders_client_calls.py"));

const stack = await startTestStack();
// The order that API.md's examples cancel.
await stack.putOrder({ id: { N: "9007199254740993" }, status: { S: "pending" } });

const key = "pets_test_0123";

type Respond = (response: ServerResponse) => void;

const responds =
  (
    status: number,
    body: string | Uint8Array = "",
    headers: Record<string, string> = {},
  ): Respond =>
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
const longList = gzipSync(`[${" ".repeat(100_000_000)}]`);

const page = responds(200, "<html>Back soon</html>", { "Content-Type": "text/html" });
const redirects = (status: number) =>
  responds(status, "", { Location: "http://127.0.0.1:9/v1/store/orders" });
const always = (respond: Respond): Respond[] => Array(5).fill(respond);

/** What a server responds, in turn, by the call's outcome and the reason. */
type Cases = Record<string, Record<string, Respond[]>>;

const lists: Cases = {
  // These responses say nothing for sure, so another attempt may help.
  "[] after 0.5 s": {
    "no response": [hangUp, noOrders],
    "nothing of HTTP": [sends("SSH-2.0-OpenSSH_9.9\r\n"), noOrders],
    "an empty 200": [responds(200), noOrders],
    "a page": [page, noOrders],
    "an object": [responds(200, "{}"), noOrders],
    "an end between orders": [responds(200, '[{"id":1},'), noOrders],
    "an end within a character": [
      responds(200, Buffer.from([0x5b, 0x22, 0xc3])),
      noOrders,
    ],
    "an end with its connection": [
      sends("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n["),
      noOrders,
    ],
    "an impossible length": [
      sends(`HTTP/1.1 200 OK\r\nContent-Length: ${"9".repeat(30)}\r\n\r\n[`),
      noOrders,
    ],
    "an impossible chunk": [
      sends("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n[]\r\n"),
      noOrders,
    ],
    "half of its gzip": [responds(200, zipped.subarray(0, 15), gzip), noOrders],
    "gzip that is none": [responds(200, "[]", gzip), noOrders],
    "damaged gzip": [responds(200, zipped.with(10, 0xff), gzip), noOrders],
    "too many levels": [responds(200, "[".repeat(1_000_000)), noOrders],
  },
  '[{"id":1}]': { "a compressed list": [responds(200, zipped, gzip)] },
  "[]": {
    "a long list, compressed, from a server that hangs up": [
      responds(200, longList, { ...gzip, Connection: "close" }),
    ],
    "100 Continue before the list": [
      sends(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
      ),
    ],
  },
  "ApiError 403 forbidden": { "an error of the catalogue": [fails("forbidden")] },
  "ApiError 404": {
    "no JSON": [responds(404, "{oops")],
    "JSON of another form": [responds(404, "[1]")],
    "no code": [responds(404, "{}")],
    "a number for a code": [responds(404, '{"code":5}')],
    "half a character": [responds(404, Buffer.from([0xc3]))],
  },
  "ApiError 202": { "not yet a list": [responds(202, "[]")] },
  "ApiError 204": { "no list": [responds(204)] },
  "ApiError 407": { "a status of proxies": [responds(407)] },
  "ApiError 301": { "another host": [redirects(301)] },
  "[] after 0.5, 1, 2, 4 s": {
    "four failures": [busy, busy, busy, failed, noOrders],
    "too long a wait": [...throttled("100", "99999999999", "1e9", "Infinity"), noOrders],
    "no number": [
      ...throttled("", "Wed, 21 Oct 2026 07:28:00 GMT", "soon", "NaN"),
      noOrders,
    ],
    "no whole number": [...throttled("-1", "1.5", "1, 2", "0x10"), noOrders],
  },
  "ApiError 500 internal_error after 0.5, 1, 2, 4 s": {
    "five failures": [busy, busy, busy, busy, failed],
  },
  "[] after 7.5, 1, 101, 5 s": { waits: [...throttled("7", "0", "99", "1"), noOrders] },
};

const echoes: Cases = {
  "ApiError 403": {
    "a body": [
      responds(403, `'${key}' not a valid key=value pair in Authorization header`),
    ],
    "a code": [responds(403, JSON.stringify({ code: key }))],
  },
  "ApiError 302": {
    "a redirect": [responds(302, key, { Location: `/${key}`, "X-Key": key })],
  },
  "ApiError 200 after 0.5, 1, 2, 4 s": { "a list": always(responds(200, key)) },
  "ApiError after 0.5, 1, 2, 4 s": {
    "a status line": always(sends(`HTTP/1.1 ${key}\r\n\r\n`)),
    "what isn't HTTP": always(sends(`Authorization: Bearer ${key}\r\n\r\n`)),
  },
};

const silences: Cases = {
  "[] after 0.5, 1 s": {
    "at once and midway": [
      () => {},
      (response) => void response.writeHead(200).write("["),
      noOrders,
    ],
  },
};

const cancellations: Cases = {
  "cancelled after 0.5 s": {
    "no response": [hangUp, responds(204)],
    "a page": [page, responds(204)],
  },
  cancelled: {
    "it was before": [fails("order_already_cancelled")],
    "nothing, compressed": [responds(204, "", gzip)],
  },
  "ApiError 409 order_not_pending": { "another conflict": [fails("order_not_pending")] },
  "ApiError 404 order_already_cancelled": {
    "another status": [responds(404, errorBody("order_already_cancelled"))],
  },
  "ApiError 202": { "not yet": [responds(202)] },
  "ApiError 307": { "another host": [redirects(307)] },
};

/** Wrong calls by what the error says. */
const wrong: Record<string, Record<string, Partial<Call>>> = {
  "must look like https://HOST/v1": {
    "another scheme": { baseUrl: "ftp://127.0.0.1/v1" },
    "no host": { baseUrl: "http:///v1" },
    "no such port": { baseUrl: "http://127.0.0.1:99999/v1" },
    "a password": { baseUrl: "http://a:b@127.0.0.1/v1" },
    "the key": { baseUrl: key, apiKey: "http://127.0.0.1:9/v1" },
  },
  "The API key is empty or has a character that no key has": {
    "no key": { apiKey: "" },
    "a line": { apiKey: `${key}\n${key}` },
    "an umlaut": { apiKey: `${key}ä` },
    "a scheme": { apiKey: `Bearer ${key}` },
  },
  "The timeout must be ": {
    "no time": { timeout: 0 },
    "time without end": { timeout: 1e13 },
  },
  " is not an ": {
    "a fraction": { cancel: "1.5" },
    "perhaps without its last digits": { cancel: "9007199254740992.0" },
    "a path": { cancel: '"../4"' },
    "a boolean": { cancel: "true" },
  },
};

describe.each(clients)("the client in $language", ({ language, ask }) => {
  /** Makes a call, by default to an address where nothing listens. */
  async function call(options: Partial<Call>): Promise<Outcome> {
    const usual: Call = {
      baseUrl: "http://127.0.0.1:9/v1",
      apiKey: key,
      timeout: 60_000,
    };
    const outcome: Outcome = await ask({ ...usual, ...options });
    expect(outcome.shown).not.toContain(key);
    return outcome;
  }

  async function callServer(responses: Respond[], options: Partial<Call> = {}) {
    const requests: IncomingMessage[] = [];
    const { port, close } = await listen(0, (request, response) => {
      const respond = responses[requests.push(request) - 1] ?? hangUp;
      respond(response);
    });
    onTestFinished(close);
    const outcome = await call({ baseUrl: `http://127.0.0.1:${port}/v1`, ...options });
    expect(requests).toHaveLength(outcome.pauses.length + 1);
    return { ...outcome, headers: requests[0]?.headers };
  }

  test("does what the service says", async () => {
    const { apiKey, baseUrl, seeded, unknownKey } = stack;
    const cancel = language === "Python" ? "-9223372036854775808" : "9223372036854775807";
    const calls = [{}, { cancel }, { cancel }, { cancel: "404" }, { cancel: "102" }];
    const results: string[] = [];
    for (const options of [...calls, { apiKey: unknownKey }])
      results.push((await call({ baseUrl, apiKey, ...options })).result);
    const [list = "", ...others] = results;
    expect(JSON.parse(list)).toHaveLength(seeded + 1);
    expect(list).toContain('{"id":9223372036854775807,"petId":-9223372036854775808}');
    expect(others).toEqual([
      "cancelled",
      "cancelled",
      "ApiError 404 order_not_found",
      "ApiError 409 order_already_shipped",
      "ApiError 401 unauthorized",
    ]);
  });

  test.each<[what: string, expected: Cases, options: Partial<Call>]>([
    ["a list", lists, {}],
    ["a list with its key", echoes, {}],
    ["a silence", silences, { timeout: 100 }],
    ["a cancellation", cancellations, { cancel: "4" }],
  ])("copes with whatever %s may bring", async (_what, expected, options) => {
    for (const [outcome, cases] of Object.entries(expected)) {
      for (const [what, responses] of Object.entries(cases)) {
        const { result, pauses } = await callServer(responses, options);
        const after = pauses.length > 0 ? ` after ${pauses.join(", ")} s` : "";
        expect(`${result}${after}`, what).toBe(outcome);
      }
    }
  });

  test("sends nothing that can't be right, and says why without the key", async () => {
    for (const [says, cases] of Object.entries(wrong)) {
      for (const [what, options] of Object.entries(cases)) {
        const { message, pauses, result } = await call(options);
        expect(message, what).toContain(says);
        expect([result, ...pauses]).toEqual([
          expect.stringMatching(/^(Type|Value|Range)Error$/),
        ]);
      }
    }
  });

  test("trims its key, and asks for gzip", async () => {
    for (const apiKey of [`${key}\n`, `\uFEFF${key}\r\n`, `  ${key}\t`]) {
      const { headers, result } = await callServer([noOrders], { apiKey });
      expect(result).toBe("[]");
      expect(headers?.authorization).toBe(`Bearer ${key}`);
      expect(headers?.["accept-encoding"]).toContain("gzip");
      expect(headers?.["user-agent"]).toBeTruthy();
    }
  });

  test("says why it can't reach a service, and tries no more where that can't help", async () => {
    const { port, close } = await listen(0, () => {});
    onTestFinished(close);
    const noTls = await call({ baseUrl: `https://127.0.0.1:${port}/v1` });
    expect(noTls.message).toMatch(/wrong.version|record.layer/i);
    expect(noTls).toMatchObject({ result: "ApiError", pauses: [] });
    await close();
    const closed = await call({ baseUrl: `http://127.0.0.1:${port}/v1` });
    expect(closed.message).toMatch(/^No whole response: .*refused/i);
    expect(closed).toMatchObject({ result: "ApiError", pauses: [0.5, 1, 2, 4] });
  });
});

const api = readFileSync("shared/API.md", "utf8");
const examples = Array.from(
  api.matchAll(/```(?:ts|python)\n(.*?)```/gs),
  ([, code]) => code,
);
const [usage = "", pythonUsage = "", widened] = examples;
const run = promisify(execFile);

test.each(clients)("the client in $language runs in API.md's example", async (client) => {
  const [flags, code] =
    client.language === "Python"
      ? [["-B", "-c"], pythonUsage]
      : [["--input-type=module-typescript", "--eval"], usage];
  const args = [...flags, code.replace("https://HOST/v1", stack.baseUrl)];
  const env = { PATH: process.env["PATH"], API_KEY: stack.apiKey };
  const { stdout } = await run(client.command, args, { cwd: clientFolder, env });
  expect(stdout).toContain("9007199254740993");
});

test("a copy of the client in TypeScript compiles with the document's fields and no other", async () => {
  const values = {
    int64: "1n << 62n",
    "date-time": '"2026-12-24T12:00:00Z"',
    boolean: "true",
  };
  const order = orderFields
    .map(({ name, type }) => `${name}: ${values[type]}`)
    .join(", ");
  const generated = orderFields
    .map(({ name, type }) => `${name}?: ${type === "int64" ? "number" : "never"};`)
    .join(" ");
  const sources = {
    "package.json": '{ "type": "module" }',
    "orders-client.ts": readFileSync(join(clientFolder, "orders-client.ts")),
    "fields.ts": `import type { Order } from "./orders-client.ts";
      export const order: Required<Order> = { ${order} };
      // @ts-expect-error: no Order has a status.
      order.status;`,
    "usage.ts": usage,
    "widened.ts": `interface components { schemas: { Order: { ${generated} } } }
      ${widened}
      export const widened: Order = { id: 9223372036854775807n, quantity: 1 };
      // @ts-expect-error: an id is no string.
      widened.id = "1";`,
  };
  await using folder = await temporaryFolder();
  for (const [file, source] of Object.entries(sources))
    await writeFile(join(folder.path, file), source);
  const options = "--strict --noEmit --target esnext --module nodenext --types node";
  const args = [
    resolve("node_modules/typescript/bin/tsc"),
    ...`${options} --allowImportingTsExtensions --typeRoots`.split(" "),
    resolve("node_modules/@types"),
    ...Object.keys(sources).filter((file) => file.endsWith(".ts")),
  ];
  const output = await run(process.execPath, args, { cwd: folder.path });
  expect(output).toEqual({ stdout: "", stderr: "" });
});

test("the client in TypeScript needs a Node.js that tells a number's digits", () => {
  const { parse } = JSON;
  vi.spyOn(JSON, "parse").mockImplementation((text, reviver) =>
    parse(text, (key, value) => reviver?.call({}, key, value)),
  );
  onTestFinished(() => void vi.restoreAllMocks());
  expect(() => new OrdersClient("http://127.0.0.1:9/v1", key)).toThrow(
    "needs Node.js 22 or newer",
  );
});

test.runIf(clients.length > 1)("the client in Python needs Python 3.10", async () => {
  const code = "import sys; sys.version_info = (3, 9); import orders_client";
  const started = run("python3", ["-B", "-c", code], { cwd: clientFolder });
  await expect(started).rejects.toThrow(
    "ImportError: orders_client needs Python 3.10 or newer",
  );
});
