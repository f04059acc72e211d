import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Environment } from "../../infra/environments.ts";
import { smokeChecks } from "../../infra/smoke/checks.ts";
import { smokeOptions } from "../../infra/smoke/options.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { endOf } from "../helpers/end-of-options.ts";
import { noOption } from "../helpers/fixture-environments.ts";
import { without } from "../helpers/smoke/faults.ts";
import { pendingOrder, startTinyService, type TinyService } from "../helpers/smoke/tiny-service.ts";

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

describe("npm run smoke", () => {
  describe("on a service that fails a check", () => {
    let service: TinyService;
    let ended: Awaited<ReturnType<typeof run>>;
    beforeAll(async () => {
      service = await startTinyService();
      service.fault = without("Allow", 405);
      const args = ["--base-url", `${service.baseUrl}/?a=b`, "--cancel", pendingOrder];
      ended = await run(args, service.apiKey);
      await service.stop();
    });

    test("exits 1", () => {
      expect(ended.code).toBe(1);
    });

    test("counts the checks that pass and fail", () => {
      const checks = Object.keys(smokeChecks(pendingOrder));
      expect(ended.stdout).toContain(`${checks.length - 1} passed, 1 failed`);
    });

    test("names the service", () => {
      expect(ended.stdout).toContain(`Smoke test of ${service.baseUrl}\n`);
    });

    test("names the check that fails, with the reason", () => {
      expect(ended.stdout).toContain(
        "FAIL     405 and Allow for another method on a known path: header Allow is missing\n",
      );
    });

    test("still cancels the order that --cancel names", () => {
      expect(ended.stdout).toContain(`pass     204 for cancelling order ${pendingOrder}`);
    });

    test("prints no key", () => {
      expect(ended.stdout + ended.stderr).not.toContain(service.apiKey);
    });
  });

  test("exits 0 when everything passes", async () => {
    const service = await startTinyService();
    onTestFinished(() => service.stop());
    const { code, stdout } = await run(["--base-url", service.baseUrl], service.apiKey);
    expect(stdout).toContain(`${Object.keys(smokeChecks()).length} passed, 0 failed`);
    expect(code).toBe(0);
  });

  test.each([
    ["https://orders.example.com/v1", 120],
    ["http://localhost:3000/v1", 0],
    ["http://127.0.0.1:3000/v1", 0],
    ["http://[::1]:3000/v1", 0],
  ])("gives a stage at %s %i seconds to become ready", (baseUrl, seconds) => {
    vi.stubEnv("API_KEY", makeApiKey("pets_test"));
    const { waitSeconds } = smokeOptions(["node", "command", "--base-url", baseUrl]);
    expect(waitSeconds).toBe(seconds);
  });

  test("says in its help which option is required", () => {
    const { code, stdout } = endOf(smokeOptions, ["--help"]);
    expect(code).toBe(0);
    expect(stdout.replaceAll(/\s+/g, " ")).toMatch(/--base-url <url> .*prints \(required\)/);
  });

  const url = "--base-url=http://localhost/v1";
  const given = (...options: string[]) => smokeOptions(["node", "command", ...options]);

  test("takes a base URL with a path before the stage", () => {
    vi.stubEnv("API_KEY", makeApiKey("pets_test"));
    const { baseUrl } = given("--base-url=https://example.com/pets/v1/?a=b");
    expect(baseUrl).toBe("https://example.com/pets/v1");
  });

  test("takes the seconds to wait from --wait", () => {
    vi.stubEnv("API_KEY", makeApiKey("pets_test"));
    expect(given(url, "--wait=30").waitSeconds).toBe(30);
  });

  test("takes the order to cancel from --cancel", () => {
    vi.stubEnv("API_KEY", makeApiKey("pets_test"));
    expect(given(url, "--cancel=-7").cancel).toBe("-7");
  });

  test.each(
    [
      [],
      ["--base-url=ftp://a/v1"],
      ["--base-url=http://a"],
      [url, "--cancel=007"],
      ["--base-url=http://a/v1/store"],
      [url, "--wait=-1"],
      [url, "--wait=30s"],
    ].map((wrong) => [wrong]),
  )("exits 2 with one line for the options %j", (wrong) => {
    vi.stubEnv("API_KEY", makeApiKey("pets_test"));
    expect(endOf(smokeOptions, wrong)).toEqual({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/^[^\n]+\n$/),
    });
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

  const noKey = { code: 2, stdout: "", stderr: "API_KEY is missing or malformed.\n" };

  test.each([
    ["missing", ""],
    ["malformed", `${makeApiKey("pets_test")}x`],
  ])("exits 2 with one line when the key is %s", (_what, key) => {
    vi.stubEnv("API_KEY", key);
    expect(endOf(smokeOptions, [url])).toEqual(noKey);
  });

  test("doesn't repeat a malformed key", async () => {
    expect(await run([url], `${makeApiKey("pets_test")}x`)).toEqual(noKey);
  });
});
