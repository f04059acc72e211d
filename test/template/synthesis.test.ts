import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { synthesise } from "../../infra/template/synthesis.ts";

test("tables that staging has restored in AWS are not looked for on this machine", async () => {
  const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-synthesis-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const settings = new URL("../../infra/environments.ts", import.meta.url).href;
  const restore = `import { environments } from "${settings}";
    environments.staging.restoredTables = { orders: "PetStoreOrders-staging-Orders-20261120" };`;
  vi.stubEnv("NODE_OPTIONS", `--import=data:text/javascript,${encodeURIComponent(restore)}`);
  vi.stubEnv("CDK_CONTEXT_JSON", '{"aws:cdk:bundling-stacks":[]}');
  const { template } = await synthesise(directory, AbortSignal.timeout(100_000));
  expect(template.output("OrdersTableName")).toBe("PetStoreOrders-staging-Orders");
});
