import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import http, { type IncomingMessage } from "node:http";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  expectTypeOf,
  onTestFinished,
  test,
  vi,
} from "vitest";
import { listen } from "../../infra/tools/local/machine/ports.ts";
import { type Order, OrdersClient } from "../../shared/clients/orders-client.ts";
import type { orderFields } from "../../shared/order.ts";
import { beforeTests } from "../helpers/before-tests.ts";
import { machineHas } from "../helpers/machine.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { startTestStack } from "../helpers/test-stack.ts";
import { mock, orders, startPets, streaming } from "../tools/local/pets.ts";
import { startLineProcess } from "./line-process.ts";
import type { Call, Outcome } from "./orders-client-calls.ts";
import {
  key,
  type Respond,
  responds,
  served,
  wrong,
  wrongInTypeScript,
} from "./orders-client-cases.ts";

const clientFolder = resolve("shared/clients");

const api = readFileSync("shared/API.md", "utf8");
const examples = (language: string) =>
  Array.from(api.matchAll(/```(\w+)\n(.*?)```/gs), ([, name, code = ""]) =>
    name === language ? [code] : [],
  ).flat();
const [usage = "", widened = ""] = examples("ts");
const [replacer = ""] = examples("js");
const [recipe = "", pythonUsage = ""] = examples("python");

const { path: folder, remove } = await temporaryFolder();
afterAll(remove);
afterEach(() => void vi.restoreAllMocks());
const netrc = join(folder, "netrc");
await writeFile(netrc, "default login someone password else", { mode: 0o600 });

function start(language: string, command: string, calls: string, ...args: string[]) {
  // A request to a proxy would fail, and so would a key that is replaced.
  const proxy = { HTTP_PROXY: "http://127.0.0.1:9", NODE_USE_ENV_PROXY: "1" };
  const env = { ...proxy, ALL_PROXY: proxy.HTTP_PROXY, NETRC: netrc };
  const ask = startLineProcess(command, [`test/openapi/${calls}`, ...args], env);
  return { language, command, ask };
}

const clients = [start("TypeScript", process.execPath, "orders-client-calls.ts")];
if (machineHas("requests for Python", "the client in Python"))
  clients.push(start("Python", "python3", "orders_client_calls.py", recipe));

const stack = beforeTests(startTestStack);
// The order that API.md's examples cancel.
beforeAll(() =>
  stack.putOrder({ id: { N: "9007199254740993" }, status: { S: "pending" } }),
);

const rehearsed = {
  "GET /store/orders": streaming("orders"),
  "DELETE /store/orders/{orderId}": mock(204),
};

const summary = ({ result, pauses }: Outcome) =>
  pauses.length > 0 ? `${result} after ${pauses.join(", ")} s` : result;

describe.each(clients)("the client in $language", ({ language, ask }) => {
  /** Makes a call, by default to an address where nothing listens. */
  async function call(options: Partial<Call>) {
    const usual = { baseUrl: "http://127.0.0.1:9/v1", apiKey: key, timeout: 60_000 };
    const outcome: Outcome = await ask({ ...usual, ...options });
    expect(outcome.shown).not.toContain(key.slice(0, 5));
    expect(outcome.message.length).toBeLessThanOrEqual(500);
    expect(outcome.message).not.toMatch(/RequestId: (?!none\)|[\da-f-]{36}\)|API_KEY\))/);
    // The status alone looks like a success.
    if (language === "TypeScript" && /Error [23]/.test(outcome.result))
      expect(outcome.message).toContain(" is not a response of the orders API: ");
    return outcome;
  }

  async function callServer(responses: Respond[], options: Partial<Call> = {}) {
    const works = options.cancel === undefined ? responds(200, "[]") : responds(204);
    const requests: IncomingMessage[] = [];
    const { port, close } = await listen(0, (request, response) => {
      const respond = responses[requests.push(request) - 1] ?? works;
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
    for (const options of [...calls, { apiKey: unknownKey }]) {
      const { message, result } = await call({ baseUrl, apiKey, ...options });
      results.push(result);
      const status = language === "TypeScript" ? `${/\d+/.exec(result)} ` : "";
      if (message)
        expect(message.replace(/[\da-f-]{36}/, "ID")).toMatch(
          RegExp(`^${status}\\(x-amzn-RequestId: ID\\) \\{`),
        );
    }
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

  test.each(served)(
    "copes with whatever %s may bring",
    async (what, expected, options) => {
      for (const [outcome, cases] of Object.entries(expected)) {
        for (const [response, responses] of Object.entries(cases)) {
          const made = await callServer([responses].flat(), options);
          expect(summary(made), response).toBe(outcome);
          // The message quotes the body.
          if (what === "a list with its key" && /\d/.test(made.result))
            expect(made.message, response).toContain("API_K");
        }
      }
    },
  );

  test("sends nothing that can't be right, and says why without the key", async () => {
    const calls = language === "TypeScript" ? wrongInTypeScript : wrong;
    for (const [says, cases] of Object.entries(calls)) {
      for (const [what, options] of Object.entries(cases)) {
        const { message, pauses, result } = await call(options);
        expect(message, what).toContain(says);
        expect([result, ...pauses]).toEqual([
          expect.stringMatching(/^(Type|Value|Range)Error$/),
        ]);
      }
    }
  });

  test("names itself, asks for gzip and, in TypeScript, trims its key", async () => {
    const untrimmed = [`${key}\n`, `\uFEFF${key}\r\n`, `  ${key}\t`];
    for (const apiKey of language === "TypeScript" ? untrimmed : [key]) {
      const { headers, result } = await callServer([], { apiKey });
      expect(result).toBe("[]");
      expect(headers?.authorization).toBe(`Bearer ${key}`);
      expect(headers?.["accept-encoding"]).toContain("gzip");
      expect(headers?.["user-agent"]).toBeTruthy();
    }
  });

  test("always succeeds in the rehearsal of API.md", async () => {
    const numbers = Array.from(api.matchAll(/--(throttle|unavailable|cut) (\d+)/g));
    const faults = Object.fromEntries(
      numbers.map(([, name, nth]) => [name, Number(nth)]),
    );
    using pets = await startPets(rehearsed, { orders }, faults);
    const attempts: number[] = [];
    for (let round = 0; round < 40; round += 1) {
      const options = { baseUrl: pets.baseUrl, ...(round % 3 === 1 && { cancel: "4" }) };
      const { result, pauses } = await call(options);
      expect(result).not.toContain("Error");
      attempts.push(pauses.length);
    }
    expect(Math.max(...attempts)).toBe(3);
  });

  test("says why it can't reach a service", async () => {
    const { port, close } = await listen(0, () => {});
    onTestFinished(close);
    const noTls = await call({ baseUrl: `https://127.0.0.1:${port}/v1` });
    expect(noTls.message).toMatch(/wrong.version|record.layer/i);
    // The one in TypeScript knows that another attempt can't help.
    const pauses = language === "TypeScript" ? [] : [0.5, 1, 2, 4];
    expect(noTls).toMatchObject({ result: "ApiError", pauses });
    await close();
    const own = ["127.0.0.1", "localhost", "[::1]"];
    const tidy = own.map((host) => `http://${host}:${port}/a/path/v1`);
    const untidy = ` http://LOCALHOST:${port}/v1//\n`;
    for (const baseUrl of language === "Python" ? tidy : [...tidy, untidy]) {
      const closed = await call({ baseUrl });
      expect(closed.message).toMatch(
        /^No whole response: .*(refused|avail|assign|support)/i,
      );
      expect(closed).toMatchObject({ result: "ApiError", pauses: [0.5, 1, 2, 4] });
    }
  });
});

const run = promisify(execFile);

/** Runs an example of API.md beside the client. @returns all that it prints. */
async function print(command: string, flags: string[], example: string) {
  const args = [...flags, example.replaceAll("https://HOST/v1", stack.baseUrl)];
  const env = { PATH: process.env["PATH"], API_KEY: stack.apiKey };
  return (await run(command, args, { cwd: clientFolder, env })).stdout;
}
const nodeFlags = ["--input-type=module-typescript", "--eval"];

test("the client in TypeScript runs in API.md's example, whose replacer writes every digit", async () => {
  const list = await print(process.execPath, nodeFlags, usage);
  expect(list).toContain("9007199254740993");
  const written = await print(process.execPath, nodeFlags, replacer);
  expect(written).toBe('{"id":9007199254740993}\n');
});

test.runIf(clients.length > 1)(
  "the client in Python runs in API.md's example",
  async () => {
    const timeout = "print(call_api.__defaults__)";
    const list = await print("python3", ["-B", "-c"], recipe + pythonUsage + timeout);
    expect(list).toMatch(/9007199254740993.*\n\(60,\)\n$/s);
  },
);

test("a copy of the client in TypeScript compiles, with the fields of an order", async () => {
  // A new field goes into Order of shared/clients/orders-client.ts, too.
  expectTypeOf<keyof Order>().toEqualTypeOf<(typeof orderFields)[number]["name"]>();
  const sources = {
    "package.json": '{ "type": "module" }',
    "orders-client.ts": readFileSync(join(clientFolder, "orders-client.ts")),
    "usage.ts": usage,
    "widened.ts": `interface components { schemas: { Order: { id?: number } } }
      ${widened}
      export const widened: Order = { id: 9223372036854775807n };
      widened.id = 1;
      // @ts-expect-error: an id is no string.
      widened.id = "1";`,
  };
  for (const [file, source] of Object.entries(sources))
    await writeFile(join(folder, file), source);
  const options =
    "--strict --noEmit --skipLibCheck --target esnext --module nodenext --types node";
  const args = [
    resolve("node_modules/typescript/bin/tsc"),
    ...`${options} --allowImportingTsExtensions --typeRoots`.split(" "),
    resolve("node_modules/@types"),
    ...Object.keys(sources).filter((file) => file.endsWith(".ts")),
  ];
  const output = await run(process.execPath, args, { cwd: folder });
  expect(output).toEqual({ stdout: "", stderr: "" });
});

test("the client in TypeScript needs a Node.js that tells a number's digits", () => {
  const { parse } = JSON;
  vi.spyOn(JSON, "parse").mockImplementation((text, reviver) =>
    parse(text, (key, value) => reviver?.call({}, key, value)),
  );
  expect(() => new OrdersClient("http://127.0.0.1:9/v1", key)).toThrow(
    "needs Node.js 22 or newer",
  );
});

test.each([
  ["none of a host's addresses can be reached", "refused", 5],
  ["a certificate is wrong, and asks only once", "self-signed certificate", 1],
])("the client in TypeScript says why %s", async (_, reason, times) => {
  vi.spyOn(Math, "random").mockReturnValue(0);
  const request = vi.spyOn(http, "request").mockImplementation(() => {
    throw new AggregateError([new Error(reason)]);
  });
  const client = new OrdersClient("http://127.0.0.1:9/v1", key);
  const why = `No whole response: Error: ${reason}`;
  await expect(client.listOrders()).rejects.toThrow(why);
  expect(request).toHaveBeenCalledTimes(times);
  expect(request.mock.lastCall?.[1]).toMatchObject({ timeout: 60_000 });
});

test("the client in TypeScript asks only once for a list that no string can hold", async () => {
  let requests = 0;
  const { port, close } = await listen(0, (_, response) => {
    requests += 1;
    response.end("[]");
  });
  onTestFinished(close);
  const longest = " ".repeat(2 ** 29 - 24);
  vi.spyOn(TextDecoder.prototype, "decode").mockReturnValue(longest);
  const client = new OrdersClient(`http://127.0.0.1:${port}/v1`, key);
  await expect(client.listOrders()).rejects.toThrow("Too long a list: RangeError");
  expect(requests).toBe(1);
});
