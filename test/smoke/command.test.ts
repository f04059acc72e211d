import { execFile } from "node:child_process";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import { smokeChecks } from "../../infra/smoke/checks.ts";
import { smokeOptions } from "../../infra/smoke/options.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { endOf } from "../helpers/end-of-options.ts";
import { pendingOrder, startTinyService, without } from "../helpers/smoke/tiny-service.ts";

const main = fileURLToPath(new URL("../../infra/smoke/smoke.ts", import.meta.url));

function run(args: string[], API_KEY = "", nodeArgs: string[] = []) {
  const env = { API_KEY, NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] };
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [...nodeArgs, main, ...args], { env }, (error, stdout, stderr) =>
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

  test("reads a long list in little memory, and exits 0 when everything passes", async () => {
    const service = await startTinyService();
    const order = `,{"id":-1,"petId":1,"quantity":2,"shipDate":"2026-12-01T09:00:00Z","complete":false}`;
    const chunks = Array.from({ length: 25 }, (_, chunk) =>
      Array.from({ length: 1000 }, (_, index) =>
        order.replace("-1", String(chunk * 1000 + index)),
      ).join(""),
    );
    const list = ["[{}", ...chunks, "]"];
    const gzipped = gzipSync(list.join(""));
    service.fault = ({ headers }, right) => {
      if (right.status !== 200) return right;
      if (headers["accept-encoding"] !== "gzip") return { ...right, body: list };
      return {
        ...right,
        headers: { ...right.headers, "Content-Encoding": "gzip" },
        body: Readable.from([gzipped]),
      };
    };
    const { code, stdout } = await run(["--base-url", service.baseUrl], service.apiKey, [
      "--max-old-space-size=27",
    ]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(`${Object.keys(smokeChecks(service)).length} passed, 0 failed`),
    ]);
  });

  test("gives a new stage two minutes, and exits 2 with one line when it is used wrongly", async () => {
    expect(endOf(smokeOptions, ["--help"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/default:\s+120/),
    });
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
