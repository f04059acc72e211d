import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, test } from "vitest";
import { faults, without } from "../helpers/smoke/faults.ts";
import { pendingOrder, startTinyService, type TinyService } from "../helpers/smoke/tiny-service.ts";
import { cancellation, promises } from "./promises.ts";
import { smoke } from "./smoke.ts";

let service: TinyService;
beforeEach(async () => {
  service = await startTinyService();
  return () => service.stop();
});

/** What was found broken, without asking the questions, which break nothing. */
async function broken(cancel?: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of smoke({ ...service, cancel })) {
    if (line.kind === "found") break;
    if (line.kind === "broken") lines.push(`${line.promise}: ${line.seen}`);
  }
  return lines;
}

describe("the smoke test", () => {
  test("finds nothing broken in a service that keeps every promise", async () => {
    expect(await broken(pendingOrder)).toEqual([]);
  });

  test.each(faults)("names the promise when broken: %s: %s", async (promise, seen, fault) => {
    service.fault = fault;
    const lines = await broken(pendingOrder);
    const line = lines.find((each) => each.startsWith(promise)) ?? `not among: ${lines.join("; ")}`;
    expect(line).toContain(seen);
    expect(line).not.toContain(service.apiKey);
  });

  test("has been seen to fail on every promise there is", () => {
    const unbroken = [...promises, cancellation(pendingOrder)].filter(
      ({ promise }) => !faults.some(([start]) => promise.startsWith(start)),
    );
    expect(unbroken).toEqual([]);
  });
});

describe("npm run smoke", () => {
  const main = fileURLToPath(new URL("./main.ts", import.meta.url));
  const run = (args: string[], API_KEY?: string) =>
    new Promise<{ code: number | string | null | undefined; stdout: string; stderr: string }>((resolve) => {
      execFile(process.execPath, [main, ...args], { env: { API_KEY } }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, stdout, stderr }),
      );
    });

  test("exits 0 and changes nothing when every promise is kept", async () => {
    const methods: string[] = [];
    service.fault = ({ method, path }, right) => {
      methods.push(`${method} ${path}`);
      return right;
    };
    const { code, stdout, stderr } = await run(["--base-url", service.baseUrl], service.apiKey);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("13 promises kept, 0 broken");
    expect(stdout).not.toContain(service.apiKey);
    expect(methods).not.toContain(`DELETE /store/orders/${pendingOrder}`);
  });

  test("exits 1 and names what is broken", async () => {
    service.fault = without("Allow", 405);
    const { code, stdout } = await run(["--base-url", `${service.baseUrl}/`, "--cancel", pendingOrder], service.apiKey);
    expect(code).toBe(1);
    expect(stdout).toContain("BROKEN  405 with Allow for another method on a known path: no header Allow\n");
    expect(stdout).toContain("13 promises kept, 1 broken");
  });

  test("exits 2 with one line when it is used wrongly", async () => {
    const uses = await Promise.all([
      run(["--base-url", service.baseUrl]),
      run(["--base-url", service.baseUrl], "not a key"),
      run(["--base-url", "https://example.com"], service.apiKey),
      run(["--base-url", service.baseUrl, "--cancel", "007"], service.apiKey),
      run([], service.apiKey),
    ]);
    for (const { code, stdout, stderr } of uses) {
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(/^[^\n]+\n$/);
    }
  });
});
