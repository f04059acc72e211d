import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Environment } from "../../infra/environments.ts";
import { smokeChecks } from "../../infra/smoke/checks.ts";
import { smokeOptions } from "../../infra/smoke/options.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { endOf } from "../helpers/end-of-options.ts";
import { noOption } from "../helpers/fixture-environments.ts";
import { type Fault, without } from "./faults.ts";
import { pendingOrder, startTinyService } from "./tiny-service.ts";

type ApiKeyPrefix = Environment["apiKeyPrefix"];

const main = fileURLToPath(new URL("../../infra/smoke/smoke.ts", import.meta.url));

function run(args: string[], API_KEY = "") {
  const env = { API_KEY, NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] };
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [main, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, stdout, stderr }),
    );
  });
}

/** Runs the command on a service that does what it promises, but for a fault. */
async function smokeTest(fault?: Fault, ...options: string[]) {
  const service = await startTinyService();
  onTestFinished(() => service.stop());
  service.fault = fault;
  const { code, ...output } = await run(
    ["--base-url", `${service.baseUrl}/?a=b`, ...options],
    service.apiKey,
  );
  const printed = `${output.stdout}${output.stderr}exit code ${code}`;
  return printed.replace(service.baseUrl, "BASE_URL").split("\n");
}

describe("npm run smoke", () => {
  test("prints a line for each check, and exits 1 when one fails", async () => {
    const failing = "405 and Allow for another method on a known path";
    const lines = Object.keys(smokeChecks(pendingOrder)).map((check) =>
      check === failing ? `FAIL     ${check}: header Allow is missing` : `pass     ${check}`,
    );
    expect(await smokeTest(without("Allow", 405), "--cancel", pendingOrder)).toEqual([
      "Smoke test of BASE_URL",
      ...lines,
      `${lines.length - 1} passed, 1 failed`,
      "exit code 1",
    ]);
  });

  test("exits 0 when everything passes", async () => {
    const count = Object.keys(smokeChecks()).length;
    expect((await smokeTest()).slice(-2)).toEqual([`${count} passed, 0 failed`, "exit code 0"]);
  });

  test("says in its help which option is required", () => {
    const { code, stdout } = endOf(smokeOptions, ["--help"]);
    expect(code).toBe(0);
    expect(stdout.replaceAll(/\s+/g, " ")).toMatch(/--base-url <url> .*prints \(required\)/);
  });

  const url = "--base-url=http://localhost/v1";

  test.each<[string[], Partial<ReturnType<typeof smokeOptions>>]>([
    [["--base-url=https://orders.example.com/v1"], { waitSeconds: 120 }],
    [["--base-url=http://localhost:3000/v1"], { waitSeconds: 0 }],
    [["--base-url=http://127.0.0.1:3000/v1"], { waitSeconds: 0 }],
    [["--base-url=http://[::1]:3000/v1"], { waitSeconds: 0 }],
    [["--base-url=https://example.com/pets/v1/?a=b"], { baseUrl: "https://example.com/pets/v1" }],
    [[url, "--wait=30"], { waitSeconds: 30 }],
    [[url, "--cancel=-7"], { cancel: "-7" }],
    [[url], { thorough: false, asks: false }],
  ])("reads the options %j as %j", (options, expected) => {
    vi.stubEnv("API_KEY", makeApiKey("pets_test"));
    expect(smokeOptions(["node", "command", ...options])).toMatchObject(expected);
  });

  test.each([
    ["", /--base-url/],
    ["--base-url=ftp://a/v1", /must end in \/v1/],
    ["--base-url=http://a", /must end in \/v1/],
    ["--base-url=http://a/v1/store", /must end in \/v1/],
    [`${url} --cancel=007`, /Not a 64-bit integer/],
    [`${url} --wait=-1`, /Not a whole number of seconds/],
    [`${url} --wait=30s`, /Not a whole number of seconds/],
  ])("rejects %j in one line", (words, expected) => {
    vi.stubEnv("API_KEY", makeApiKey("pets_test"));
    const { code, stdout, stderr } = endOf(smokeOptions, words.split(" ").filter(Boolean));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).toMatch(expected);
  });

  test.each([
    ["missing", ""],
    ["malformed, and doesn't repeat it", `${makeApiKey("pets_test")}x`],
  ])("says in one line that the key is %s", async (_what, key) => {
    const expected = { code: 2, stdout: "", stderr: "API_KEY is missing or malformed.\n" };
    expect(await run([url], key)).toEqual(expected);
  });

  describe("--thorough", () => {
    const staging: Environment = { ...noOption, apiKeyPrefix: "pets_test", keepData: false };
    const production: Environment = { ...noOption, apiKeyPrefix: "pets_live", keepData: true };
    const read = (prefix: ApiKeyPrefix, ...options: string[]) => {
      vi.stubEnv("API_KEY", makeApiKey(prefix));
      const argv = ["node", "command", url, "--thorough", ...options];
      return smokeOptions(argv, { staging, production });
    };
    const problem = (prefix: ApiKeyPrefix, ...options: string[]) =>
      endOf(() => read(prefix, ...options), []).stderr;

    test("asks first on a terminal", () => {
      const { isTTY } = process.stdin;
      onTestFinished(() => void Object.assign(process.stdin, { isTTY }));
      process.stdin.isTTY = true;
      expect(read("pets_test").asks).toBe(true);
      expect(read("pets_test", "--yes").asks).toBe(false);
    });

    test("needs --yes without a terminal", () => {
      expect(problem("pets_test")).toBe("No terminal to ask on. Add --yes to go ahead.\n");
    });

    test.each([
      ["pets_live", "that keeps its data"],
      ["pets_else", "that environments.ts doesn't have"],
    ] as const)("needs --production with a key %s_..., of an environment %s", (prefix, _whose) => {
      expect(problem(prefix, "--yes")).toMatch(/^--thorough .*, add --production\.\n$/);
      expect(read(prefix, "--yes", "--production").thorough).toBe(true);
    });
  });
});
