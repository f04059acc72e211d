import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { expect, onTestFinished, test, vi } from "vitest";
import { environments } from "../../infra/environments.ts";
import { setEveryAlias, skipsCanary, withoutCanary } from "../../infra/stack/without-canary.ts";
import { ordersStack } from "../helpers/synthesise.ts";

const aliases = (template: Template) => Object.values(template.findResources("AWS::Lambda::Alias"));
const descriptions = (template: Template) => aliases(template).map(({ Properties }) => Properties.Description);

test("cdk deploy -c canary=false deploys production without CodeDeploy, and leaves the alarms", async () => {
  const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-canary-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const context = JSON.stringify({ "aws:cdk:bundling-stacks": [], canary: "false" });
  await promisify(execFile)(process.execPath, ["infra/app.ts"], {
    env: { ...process.env, CDK_OUTDIR: directory, CDK_CONTEXT_JSON: context },
  });
  const file = join(directory, `${environments.production.stackName}.template.json`);
  const template = Template.fromJSON(JSON.parse(await readFile(file, "utf8")));
  template.resourceCountIs("AWS::CodeDeploy::DeploymentGroup", 0);
  expect(aliases(template)).toHaveLength(3);
  for (const alias of aliases(template)) expect(alias["UpdatePolicy"]).toBeUndefined();
  expect(descriptions(template)).toEqual(Array(3).fill(expect.stringContaining("Set without a canary")));
  expect(Object.keys(template.findResources("AWS::CloudWatch::Alarm"))).not.toHaveLength(0);
});

test("it changes every alias each time, so that one moved by hand is set again", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const deploy = (time: string) => {
    vi.setSystemTime(time);
    const stack = ordersStack(withoutCanary(environments.production));
    setEveryAlias(stack);
    return descriptions(Template.fromStack(stack));
  };
  expect(deploy("2026-11-21T08:00:00Z")).toEqual(Array(3).fill("Set without a canary at 2026-11-21T08:00:00.000Z"));
  expect(deploy("2026-11-21T08:00:01Z")).toEqual(Array(3).fill("Set without a canary at 2026-11-21T08:00:01.000Z"));
});

test.each([
  [{}, false],
  [{ canary: "true" }, false],
  [{ canary: true }, false],
  [{ canary: "false" }, true],
  [{ canary: false }, true],
])("the context %j skips the canary: %s", (context, skips) => {
  expect(skipsCanary(new App({ context }))).toBe(skips);
});

test.each(["off", "", "False"])("-c canary=%s is an error, not a canary", (canary) => {
  expect(() => skipsCanary(new App({ context: { canary } }))).toThrow("canary must be true or false, not");
});

test("an environment without alarms has no canary to skip", () => {
  expect(withoutCanary(environments.staging)).toEqual(environments.staging);
});
