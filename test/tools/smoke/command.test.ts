import { execFile } from "node:child_process";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { Command } from "commander";
import { describe, expect, test, vi } from "vitest";
import { addSmoke, type SmokeOptions } from "../../../infra/tools/smoke/options.ts";
import { runSmoke } from "../../../infra/tools/smoke/smoke.ts";
import { makeApiKey } from "../../../shared/api-keys.ts";
import { systemClock } from "../../../shared/clock.ts";
import { petstore } from "../../helpers/admin-command.ts";
import { run } from "../run.ts";
import {
  errorResponse,
  pendingOrder,
  tinyServiceForEachTest,
  when,
} from "./tiny-service.ts";

describe("infra/petstore smoke", () => {
  const service = tinyServiceForEachTest();

  test("prints a line for each check, and exits 1 when two fail", async () => {
    service.fault = when(/ 41[35]$/, { status: 400, body: "no" });
    const env = {
      API_KEY: service.apiKey,
      // A request to a proxy, which must not see a key without TLS, would fail.
      HTTP_PROXY: "http://127.0.0.1:9",
      NODE_USE_ENV_PROXY: "1",
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
    };
    const options = ["--base-url", `${service.baseUrl}/?a=b`, "--cancel", pendingOrder];
    const words = [...petstore, "smoke", ...options];
    const ended = promisify(execFile)(process.execPath, words, { env });
    const { code, stdout, stderr } = await ended.catch((error) => error);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    const lines = [
      `Smoke test of ${service.baseUrl}`,
      "pass     401 without a key, naming the Bearer scheme",
      "(pass     .+\n){11}FAIL     415 for an unexpected content type: POST /nope: status 400 instead of 415, .*",
      "FAIL     413 .*",
      "12 passed, 2 failed\n",
    ];
    expect(stdout).toMatch(RegExp(`^${lines.join("\n")}$`));
  });

  /** Runs it in this process, without pauses. @returns what it prints and asks, and its exit code. */
  async function runHere(options: Partial<SmokeOptions>, reply = "") {
    const usual = { isLocal: true, cancel: undefined, thorough: false, asks: false };
    const stdin = Readable.from([`${reply}\n`]) as typeof process.stdin;
    using _stdin = vi.spyOn(process, "stdin", "get").mockReturnValue(stdin);
    using _pause = vi.spyOn(systemClock, "pause").mockResolvedValue();
    using log = vi.spyOn(console, "log").mockReturnValue();
    using asked = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    await runSmoke({ ...service, ...usual, waitSeconds: 0, ...options });
    const code = process.exitCode;
    process.exitCode = undefined;
    const printed = [...log.mock.calls, ...asked.mock.calls, `exit code ${code}`];
    return printed.join("\n").replace(service.baseUrl, "URL");
  }

  const question =
    "This sends thousands of requests: for minutes, other clients may get 429. Go on? [y/N] ";

  test("asks, waits for a new stage, and exits 0 with a warning, which is no pass", async () => {
    const busy = errorResponse("too_many_requests", { "Retry-After": "1" });
    const flooded = when(/none Bearer KEY gzip {2}404$/, busy);
    let sent = 0;
    service.fault = (request, right) => {
      sent += 1;
      if (sent === 1) return { ...right, status: 500 };
      return sent > 600 ? flooded(request, right) : right;
    };
    const lines = [
      "Smoke test of URL",
      "waiting  up to 60 s for the stage to be ready\\. 401 .+",
      "(pass     .+\n){13}warning  the whole list .+: not checked on this machine: .+",
      "pass     429 .+",
      "14 passed, 0 failed",
      `${RegExp.escape(question)}\n?exit code 0`,
    ];
    expect(await runHere({ asks: true, thorough: true, waitSeconds: 60 }, "y")).toMatch(
      RegExp(`^${lines.join("\n")}$`),
    );
  });

  test("sends nothing, and exits 2, unless that is agreed", async () => {
    const end = `Smoke test of URL\n${question}\nexit code 2`;
    expect(await runHere({ asks: true }, "")).toBe(end);
  });
});

/** Reads options on a terminal, with a key in API_KEY. */
function read(words: string) {
  const stdin = { isTTY: true } as typeof process.stdin;
  using _stdin = vi.spyOn(process, "stdin", "get").mockReturnValue(stdin);
  vi.stubEnv("API_KEY", makeApiKey("pets_test"));
  const command = new Command();
  const action = vi.fn(async (_options: SmokeOptions) => {});
  addSmoke(command, action);
  command.parse(words.split(" "), { from: "user" });
  return action.mock.lastCall?.[0];
}

const url = "--base-url=http://localhost/v1";

test.each([
  ["--base-url=http://localhost:3000/v1", { isLocal: true, waitSeconds: 0 }],
  ["--base-url=http://127.1.2.3:3000/v1", { waitSeconds: 0 }],
  ["--base-url=http://[::1]:3000/v1", { waitSeconds: 0 }],
  [
    "--base-url=https://localhost.example.com/pets/v1/?a=b",
    { baseUrl: "https://localhost.example.com/pets/v1", waitSeconds: 120 },
  ],
  ["--base-url=https://notlocalhost/v1", { isLocal: false, waitSeconds: 120 }],
  [`${url} --wait=30`, { waitSeconds: 30 }],
  ["--base-url=https://a/v1 --wait=0", { waitSeconds: 0 }],
  [`${url} --cancel=-7`, { cancel: "-7", thorough: false, asks: false }],
  [`${url} --thorough`, { asks: true }],
  [`${url} --thorough --yes`, { asks: false }],
])("infra/petstore smoke reads the options %j as %j", (words, expected) => {
  expect(read(words)).toMatchObject(expected);
});

test.each([
  ["", "error: required option '--base-url <url>' not specified"],
  ["--base-url=xhttp://a/v1", ".* The address must end in /v1."],
  ["--base-url=https://a/v2", ".* The address must end in /v1."],
  ["--base-url=http://a/v1/store", ".* The address must end in /v1."],
  [
    "--base-url=http://127.0.0.example/v1",
    ".* Use https://; http:// is for this machine only.",
  ],
  [`${url} --cancel=007`, ".* Not a 64-bit integer."],
  [`${url} --wait=30s`, ".* Must be a whole number from 0 to 9999."],
  [url, "API_KEY is missing or malformed.", ""],
  // It isn't repeated.
  [url, "API_KEY is missing or malformed.", `${makeApiKey("pets_test")}x`],
  [`${url} --thorough`, "No terminal to ask on. Add --yes to go ahead."],
])("infra/petstore smoke rejects %j in one line", async (words, line, key?: string) => {
  vi.stubEnv("API_KEY", key ?? makeApiKey("pets_test"));
  const stderr = expect.stringMatching(`^${line}\n\\(see --help\\)\n$`);
  expect(await run(`smoke --wait 0 ${words}`)).toEqual({ code: 2, stdout: "", stderr });
});

test("infra/petstore smoke --help has each option with what it does", async () => {
  const { stdout } = await run("smoke --help");
  expect(stdout).toMatchInlineSnapshot(`
    "Usage: petstore smoke [options]

    check that a running service keeps its promises to clients

    Options:
      --base-url <url>     the stack's BaseUrl, or the one \`petstore start\` prints
                           (required)
      --cancel <order-id>  a pending order; it is cancelled for good
      --thorough           also read a list for a minute, cancel the order of
                           --cancel twenty times at once, and send requests until
                           AWS rejects some with 429; asks first
      --yes                don't ask
      --wait <seconds>     how long a new stage may take to become ready (default:
                           120, on this machine 0)
      -h, --help           display help for command

    Global Options:
      -V, --version        output the version number

    Changes nothing unless you name an order to cancel. Set the environment variable API_KEY to a key of that environment.
    "
  `);
});
