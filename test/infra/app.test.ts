import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Template } from "aws-cdk-lib/assertions";
import { afterAll, beforeAll, expect, test } from "vitest";
import { functionList } from "../../infra/stack/function-list.ts";

const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-app-"));
afterAll(() => rm(directory, { recursive: true }));

/** Runs `infra/app.ts` as `cdk deploy -c canary=false` does, but without bundling and CDK's validation. */
beforeAll(async () => {
  const context = JSON.stringify({ "aws:cdk:bundling-stacks": [], canary: "false" });
  await promisify(execFile)(process.execPath, ["infra/app.ts"], {
    env: { ...process.env, CDK_OUTDIR: directory, CDK_CONTEXT_JSON: context, CDK_VALIDATION: "false" },
  });
});

async function synthesised(environment: string) {
  return JSON.parse(await readFile(join(directory, `PetStoreOrders-${environment}.template.json`), "utf8"));
}

test("cdk deploys the two stacks under the names that operators, the workflow and the admin tool know", async () => {
  const files = (await readdir(directory)).filter((name) => name.endsWith(".template.json"));
  expect(files.sort()).toEqual(["PetStoreOrders-production.template.json", "PetStoreOrders-staging.template.json"]);
});

test.each(["staging", "production"])("the stack of %s is that environment's", async (environment) => {
  expect((await synthesised(environment)).Description).toBe(`Pet store orders service, ${environment}`);
});

test("cdk deploy -c canary=false deploys production without CodeDeploy, and leaves the alarms", async () => {
  const template = Template.fromJSON(await synthesised("production"));
  template.resourceCountIs("AWS::CodeDeploy::DeploymentGroup", 0);
  const aliases = Object.values(template.findResources("AWS::Lambda::Alias"));
  expect(aliases).toHaveLength(Object.keys(functionList).length);
  for (const { Properties, UpdatePolicy } of aliases) {
    expect(UpdatePolicy).toBeUndefined();
    expect(Properties.Description).toContain("Set without a canary");
  }
  expect(Object.keys(template.findResources("AWS::CloudWatch::Alarm"))).not.toHaveLength(0);
});
