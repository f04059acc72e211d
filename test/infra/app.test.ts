import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-app-"));
afterAll(() => rm(directory, { recursive: true }));

/** Runs `infra/app.ts` the way `cdk` does, apart from bundling. */
beforeAll(async () => {
  await promisify(execFile)(process.execPath, ["infra/app.ts"], {
    env: { ...process.env, CDK_OUTDIR: directory, CDK_CONTEXT_JSON: '{"aws:cdk:bundling-stacks":[]}' },
  });
}, 120_000);

test("cdk deploys the two stacks under the names that operators, the workflow and the admin tool know", async () => {
  const files = (await readdir(directory)).filter((name) => name.endsWith(".template.json"));
  expect(files.sort()).toEqual(["PetStoreOrders-production.template.json", "PetStoreOrders-staging.template.json"]);
});

test.each(["staging", "production"])("the stack of %s is that environment's", async (environment) => {
  const template = JSON.parse(await readFile(join(directory, `PetStoreOrders-${environment}.template.json`), "utf8"));
  expect(template.Description).toBe(`Pet store orders service, ${environment}`);
});
