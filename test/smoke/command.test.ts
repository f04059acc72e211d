import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { smokeChecks } from "../../infra/smoke/checks.ts";
import { smokeOptions } from "../../infra/smoke/options.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { endOf } from "../helpers/end-of-options.ts";
import { without } from "../helpers/smoke/faults.ts";
import { pendingOrder, startTinyService } from "../helpers/smoke/tiny-service.ts";

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
  test("exits 1, names what fails and how many, and cancels the order that it is told to", async () => {
    const service = await startTinyService();
    service.fault = without("Allow", 405);
    const args = ["--base-url", `${service.baseUrl}/?a=b`, "--cancel", pendingOrder];
    const { code, stdout } = await run(args, service.apiKey);
    expect(code).toBe(1);
    expect(stdout).toContain(`Smoke test of ${service.baseUrl}\n`);
    expect(stdout).toContain(
      "FAIL     405 and Allow for another method on a known path: header Allow is missing\n",
    );
    expect(stdout).toContain(`pass     204 for cancelling order ${pendingOrder}`);
    const checks = Object.keys(smokeChecks(service, pendingOrder));
    expect(stdout).toContain(`${checks.length - 1} passed, 1 failed`);
    expect(stdout).not.toContain(service.apiKey);
  });

  test("exits 0 when everything passes", async () => {
    const service = await startTinyService();
    const { code, stdout } = await run(["--base-url", service.baseUrl], service.apiKey);
    expect(stdout).toContain(`${Object.keys(smokeChecks(service)).length} passed, 0 failed`);
    expect(code).toBe(0);
  });

  test("gives a new stage two minutes, and one on this machine none", async () => {
    vi.stubEnv("API_KEY", makeApiKey("pets_test"));
    const wait = (baseUrl: string) =>
      smokeOptions(["node", "command", "--base-url", baseUrl]).waitSeconds;
    expect(wait("https://orders.example.com/v1")).toBe(120);
    expect(wait("http://localhost:3000/v1")).toBe(0);
    expect(wait("http://127.0.0.1:3000/v1")).toBe(0);
    expect(wait("http://[::1]:3000/v1")).toBe(0);
  });

  test("says in its help which option is required", () => {
    const { code, stdout } = endOf(smokeOptions, ["--help"]);
    expect(code).toBe(0);
    expect(stdout.replaceAll(/\s+/g, " ")).toMatch(/--base-url <url> .*prints \(required\)/);
  });

  test("exits 2 with one line when it is used wrongly", async () => {
    const key = makeApiKey("pets_test");
    vi.stubEnv("API_KEY", key);
    const behindPath = ["node", "command", "--base-url=https://example.com/pets/v1/?a=b"];
    expect(smokeOptions(behindPath)).toMatchObject({
      baseUrl: "https://example.com/pets/v1",
      waitSeconds: 120,
    });
    const url = "--base-url=http://localhost/v1";
    const given = smokeOptions(["node", "command", url, "--wait=30", "--cancel=-7"]);
    expect(given).toMatchObject({ waitSeconds: 30, cancel: "-7" });
    for (const wrong of [
      [],
      ["--base-url=ftp://a/v1"],
      ["--base-url=http://a"],
      [url, "--cancel=007"],
      ["--base-url=http://a/v1/store"],
      [url, "--wait=-1"],
      [url, "--wait=30s"],
    ]) {
      expect(endOf(smokeOptions, wrong)).toEqual({
        code: 2,
        stdout: "",
        stderr: expect.stringMatching(/^[^\n]+\n$/),
      });
    }
    const noKey = { code: 2, stdout: "", stderr: "API_KEY is missing or malformed.\n" };
    for (const apiKey of ["", `${key}x`]) {
      vi.stubEnv("API_KEY", apiKey);
      expect(endOf(smokeOptions, [url])).toEqual(noKey);
    }
    expect(await run([url], `${key}x`)).toEqual(noKey);
  });
});
