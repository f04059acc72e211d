import { execFile } from "node:child_process";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { smokeChecks } from "../../infra/smoke/checks.ts";
import { createSmokeCommand } from "../../infra/smoke/command.ts";
import { without } from "../helpers/smoke/faults.ts";
import { pendingOrder, startTinyService, type TinyRequest } from "../helpers/smoke/tiny-service.ts";

let service: Awaited<ReturnType<typeof startTinyService>>;
beforeEach(async () => {
  service = await startTinyService();
  return () => service.stop();
});

/** Runs the command in this process, which takes a fraction of what another process does. */
async function runHere(args: string[], apiKey?: string): Promise<{ code: unknown; stdout: string; stderr: string }> {
  vi.stubEnv("API_KEY", apiKey);
  const printed = { stdout: "", stderr: "" };
  const into = (name: keyof typeof printed) => (text: string) => {
    printed[name] += text;
  };
  const exited = new Error("process.exit");
  const spies = [
    vi.spyOn(console, "log").mockImplementation((line) => into("stdout")(`${line}\n`)),
    vi.spyOn(process, "exit").mockImplementation((code) => {
      process.exitCode = code;
      throw exited;
    }),
  ];
  const before = process.exitCode;
  const command = createSmokeCommand().configureOutput({ writeOut: into("stdout"), writeErr: into("stderr") });
  try {
    await command.parseAsync(args, { from: "user" }).catch((error: unknown) => {
      if (error !== exited) throw error;
    });
    return { code: process.exitCode, ...printed };
  } finally {
    process.exitCode = before;
    for (const spy of spies) spy.mockRestore();
  }
}

describe("npm run smoke", () => {
  const main = fileURLToPath(new URL("../../infra/smoke/main.ts", import.meta.url));
  const run = (args: string[], API_KEY?: string, nodeArgs: string[] = []) =>
    new Promise<{ code: number | string | null | undefined; stdout: string; stderr: string }>((resolve) => {
      const env = { API_KEY, NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] };
      execFile(process.execPath, [...nodeArgs, main, ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: error ? error.code : 0, stdout, stderr }),
      );
    });

  test("exits 0 and changes nothing when every promise is kept", async () => {
    const requests: TinyRequest[] = [];
    service.fault = (request, right) => {
      requests.push(request);
      return right;
    };
    const { code, stdout, stderr } = await runHere(["--base-url", service.baseUrl], service.apiKey);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(`${smokeChecks(service).length} passed, 0 failed`);
    expect(stdout).not.toContain(service.apiKey);
    expect(requests.map(({ path }) => path)).not.toContain(`/store/orders/${pendingOrder}`);
  });

  test("exits 1 and names what is broken", async () => {
    service.fault = without("Allow", 405);
    const { code, stdout } = await run(
      ["--base-url", `${service.baseUrl}/?a=b`, "--cancel", pendingOrder],
      service.apiKey,
    );
    expect(code).toBe(1);
    expect(stdout).toContain(`Smoke test of ${service.baseUrl}\n`);
    expect(stdout).toContain("FAIL     405 and Allow for another method on a known path: header Allow is missing\n");
    expect(stdout).toContain(`${smokeChecks(service).length} passed, 1 failed`);
  });

  test("says in one line that it waits, and gives up", async () => {
    service.fault = (_request, right) => ({ ...right, status: 503 });
    const { code, stdout } = await runHere(["--base-url", service.baseUrl, "--wait", "1"], service.apiKey);
    expect(code).toBe(1);
    expect(stdout.match(/^waiting {2}up to 1 s for the stage to be ready\. 401 without a key.*503.*$/gm)).toHaveLength(
      1,
    );
  });

  test("reads a long list in little memory", async () => {
    const order = `,{"id":-1,"petId":1,"quantity":2,"shipDate":"2026-12-01T09:00:00Z","complete":false}`;
    const chunks = Array.from({ length: 100 }, (_, chunk) =>
      Array.from({ length: 1000 }, (_, index) => order.replace("-1", String(chunk * 1000 + index))).join(""),
    );
    const list = ["[{}", ...chunks, "]"];
    const gzipped = gzipSync(list.join(""));
    service.fault = ({ headers }, right) => {
      if (right.status !== 200) return right;
      if (headers["accept-encoding"] !== "gzip") return { ...right, body: list };
      return { ...right, headers: { ...right.headers, "Content-Encoding": "gzip" }, body: Readable.from([gzipped]) };
    };
    const { code, stdout } = await run(["--base-url", service.baseUrl], service.apiKey, ["--max-old-space-size=36"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`${smokeChecks(service).length} passed, 0 failed`)]);
  });

  test("explains itself, and that a new stage has two minutes", async () => {
    const { code, stdout, stderr } = await runHere(["--help"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/--wait <seconds> [^-]*\(default:\s+120\)$/m);
  });

  test("exits 2 with one line when it is used wrongly", async () => {
    const uses = [
      await run(["--base-url", service.baseUrl]),
      await runHere(["--base-url", service.baseUrl], "not a key"),
      await runHere(["--base-url", "ftp://example.com/v1"], service.apiKey),
      await runHere(["--base-url", "https://example.com"], service.apiKey),
      await runHere(["--base-url", service.baseUrl, "--cancel", "007"], service.apiKey),
      await runHere(["--base-url", service.baseUrl, "--wait", "-1"], service.apiKey),
      await runHere([], service.apiKey),
    ];
    for (const { code, stdout, stderr } of uses) {
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(/^[^\n]+\n$/);
    }
  });
});
