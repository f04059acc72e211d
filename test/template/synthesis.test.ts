import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { synthesise } from "../../infra/template/synthesis.ts";

test("tables that staging has restored in AWS are not looked for on this machine", async () => {
  const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-synthesis-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const settings = new URL("../../infra/environments.ts", import.meta.url).href;
  const restore = `import { environments } from "${settings}";
    environments.staging.restoredTables = { orders: "PetStoreOrders-staging-Orders-20261120" };`;
  vi.stubEnv("NODE_OPTIONS", `--import=data:text/javascript,${encodeURIComponent(restore)}`);
  vi.stubEnv("CDK_CONTEXT_JSON", '{"aws:cdk:bundling-stacks":[]}');
  const { template } = await synthesise(directory, { signal: AbortSignal.timeout(100_000) });
  expect(template.output("OrdersTableName")).toBe("PetStoreOrders-staging-Orders");
});

describe("a stack that can't be synthesised", () => {
  /** The failure of a synthesis that does this first. */
  const failure = async (code: string, signal = AbortSignal.timeout(100_000)): Promise<unknown> => {
    vi.stubEnv("NODE_OPTIONS", `--import=data:text/javascript,${encodeURIComponent(code)}`);
    return await synthesise("/dev/null/nowhere", { signal }).catch((error: unknown) => error);
  };

  test("because its code fails is an error that says where, without the calls that led there", async () => {
    const error = await failure(
      'console.error("Error: no such table\\n    at stack.ts:1:1\\n\\nNode.js v24"); process.exit(1)',
    );
    expect(error).toMatchObject({
      name: "TemplateError",
      message: "The stack can't be synthesised: Error: no such table",
    });
  });

  test("because esbuild found an error is one with esbuild's words only", async () => {
    const output =
      "Bundling...\n✘ [ERROR] Unexpected =\n\n    shared/errors.ts:1:6\n\nnode:internal/main:1\n    ^\nError: Failed to bundle\n";
    expect(await failure(`console.error(${JSON.stringify(output)}); process.exit(1)`)).toMatchObject({
      name: "TemplateError",
      message: "The stack can't be synthesised: ✘ [ERROR] Unexpected =\n\n    shared/errors.ts:1:6",
    });
  });

  test("because it was interrupted is no error of the stack", async () => {
    const interrupted = new Error("interrupted");
    expect(await failure("", AbortSignal.abort(interrupted))).toBe(interrupted);
  });
});
