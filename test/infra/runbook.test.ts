import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { environments } from "../../infra/environments.ts";
import packageJson from "../../package.json" with { type: "json" };
import { ordersStack, resources } from "../helpers/synthesise.ts";
import { readWorkflow } from "../helpers/workflows.ts";

const file = new URL("../../infra/README.md", import.meta.url);
const text = await readFile(file, "utf8");
const { workflow: deploy } = await readWorkflow("deploy.yml");
const commands = [...text.matchAll(/```sh\n(.*?)```/gs)]
  .map(([, block = ""]) => block)
  .join("")
  .replaceAll("\\\n", "");
const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading);

/** The text under a second-level heading. */
function section(heading: string): string {
  const found = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
  if (found === undefined) throw new Error(`No section "${heading}"`);
  return found;
}

test("every alarm is explained under the heading that its description names, and no other is", () => {
  const template = Template.fromStack(ordersStack(environments.production));
  const alarms = resources(template, "AWS::CloudWatch::Alarm").map(([, { AlarmDescription }]) => {
    const [, heading = "", name] = /infra\/README\.md, "(.*)", (\w+)$/.exec(String(AlarmDescription)) ?? [];
    return { heading, name };
  });
  expect(alarms).not.toHaveLength(0);
  for (const { heading } of alarms) expect(headings).toContain(heading);
  const entries = section("When an alarm goes off")
    .split(/^- (?=\*\*)/m)
    .slice(1);
  const explained = entries.flatMap((entry) => [...entry.matchAll(/\*\*`(\w+)`\*\*/g)].map(([, name]) => name));
  expect(explained.sort()).toEqual(alarms.map(({ name }) => name).sort());
});

test("no command gives up on a long restore, or shows only the first hundred resources", () => {
  expect(commands).not.toMatch(/wait table-(not-)?exists|describe-stack-resources/);
  expect(section("Restore a table")).toMatch(/until .*describe-table.*ACTIVE.*\n\s+sleep/);
  expect(section("Roll back")).toContain("list-stack-resources");
});

test("rolling back cancels the run that waits, before it deploys without the canary, by workflow or by hand", () => {
  const steps = ["gh run list --workflow deploy.yml --status waiting", "gh run cancel", "update-alias"];
  const input = Object.keys(deploy.on["workflow_dispatch"]?.inputs ?? {}).map((name) => `-f ${name}=COMMIT`);
  const rollback = section("Roll back");
  const places = [...steps, `gh workflow run deploy.yml --ref main ${input}`, "-c canary=false"].map((command) =>
    rollback.indexOf(command),
  );
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

test("the pipeline's trust names the subject with ids, how to look them up, and the subject without", () => {
  const pipeline = section("Pipeline");
  for (const fact of [
    '"repo:OWNER@OWNER_ID/REPO@REPO_ID:environment:staging"',
    "gh api repos/OWNER/REPO --jq '.owner.id,.id'",
    "`repo:OWNER/REPO:environment:staging`",
    "-f name=main",
  ]) {
    expect(pipeline).toContain(fact);
  }
});

test("the first deployment begins with the account's quota, in an account for each environment", () => {
  const firstDeployment = section("First deployment");
  const facts = ["staging and production an AWS account each", "aws lambda get-account-settings", "run deploy"];
  const places = facts.map((fact) => firstDeployment.indexOf(fact));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

test("commands name scripts that exist, and stacks by a pattern that matches one", () => {
  for (const [, script = ""] of commands.matchAll(/npm run (?:-\S+ )*([\w-]+)/g)) {
    expect(Object.keys(packageJson.scripts)).toContain(script);
  }
  const stackNames = Object.values(environments).map(({ stackName }) => stackName);
  const patterns = [...commands.matchAll(/"\*(-\w+)"/g)].map(([, suffix = ""]) => suffix);
  expect(patterns.length).toBeGreaterThan(3);
  for (const suffix of patterns) expect(stackNames.filter((name) => name.endsWith(suffix))).toHaveLength(1);
  for (const name of stackNames) expect(text).not.toContain(name);
});

test("links lead somewhere", () => {
  const anchors = headings.map((heading) => `#${heading.toLowerCase().replaceAll(" ", "-")}`);
  for (const [, target = ""] of text.matchAll(/\]\(([^)]+)\)/g)) {
    if (target.startsWith("#")) expect(anchors).toContain(target);
    else expect([target, existsSync(new URL(target, file))]).toEqual([target, true]);
  }
});
