import { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { environments } from "../../infra/environments.ts";
import { functionList } from "../../infra/stack/function-list.ts";
import packageJson from "../../package.json" with { type: "json" };
import { commands, runbookText, section, valuesOf } from "../helpers/runbook.ts";
import { ordersStack, resources } from "../helpers/synthesise.ts";
import { readWorkflow } from "../helpers/workflows.ts";

const { workflow: deployEnvironment } = await readWorkflow("deploy-environment.yml");
const production = Template.fromStack(ordersStack(environments.production));
const headings = [...runbookText.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading);

test("every alarm is explained under the heading that its description names, and no other is", () => {
  const alarms = resources(production, "AWS::CloudWatch::Alarm").map(([, { AlarmDescription }]) => {
    const [, heading = "", name] = /infra\/README\.md, "(.*)", (\w+)$/.exec(String(AlarmDescription)) ?? [];
    return { heading, name };
  });
  expect(alarms).not.toHaveLength(0);
  for (const { heading } of alarms) expect(headings).toContain(heading);
  const entries = section("When an alarm goes off")
    .split(/^- (?=\*\*)/m)
    .slice(1);
  const ids = Object.values(functionList).map(({ id }) => id);
  const explained = entries
    .flatMap((entry) => [...entry.matchAll(/\*\*`([\w<>]+)`\*\*/g)].map(([, name = ""]) => name))
    .flatMap((name) => (name.startsWith("<Function>") ? ids.map((id) => name.replace("<Function>", id)) : [name]));
  for (const { failures } of Object.values(functionList)) {
    for (const event of failures) expect(section("When an alarm goes off")).toContain(`\`${event}\``);
  }
  expect(explained.sort(), "infra/README.md, When an alarm goes off, explains each alarm").toEqual(
    alarms.map(({ name }) => name).sort(),
  );
});

test("the alias, the stage and the log of accesses have the names and values of the template", () => {
  const names = (type: string, property: string) =>
    new Set(resources(production, type).map(([, properties]) => properties[property]));
  expect(new Set(valuesOf(/update-alias --function-name NAME --name (\S+)/g))).toEqual(
    names("AWS::Lambda::Alias", "Name"),
  );
  expect(new Set(valuesOf(/--stage-name (\S+)/g))).toEqual(names("AWS::ApiGateway::Stage", "StageName"));
  const chosen = [...commands.matchAll(/ResourceType=='([\w:]+)' && starts_with\(LogicalResourceId, '(\w+)'/g)];
  expect(chosen).toHaveLength(1);
  for (const [, type = "", start = ""] of chosen) {
    expect(resources(production, type).filter(([id]) => id.startsWith(start))).toHaveLength(1);
  }
});

test("the pipeline may issue a key in the stack's own table and in a restored one, and write to no table of orders", () => {
  const [, pattern = ""] = /table\/STACK-([\w-]+)\*"/.exec(section("Pipeline")) ?? [];
  const [apiKeys = "", orders = ""] = ["keyHash", "id"].map(
    (key) =>
      resources(production, "AWS::DynamoDB::Table").find(([, table]) =>
        JSON.stringify(table).includes(`"${key}"`),
      )?.[0],
  );
  // CloudFormation ends a name with random characters, a restore with the time.
  const [own, restored] = [`${apiKeys}-1QAZ2WSX3EDC4`, "ApiKeys-20261120080000"];
  expect([own, restored, orders].map((name) => name.startsWith(pattern))).toEqual([true, true, false]);
});

test("new code gets a tenth of the requests for as long as the runbook says, well within the workflow's hour", () => {
  const groups = resources(production, "AWS::CodeDeploy::DeploymentGroup");
  expect(groups.map(([, group]) => group["DeploymentConfigName"])).toEqual(
    Object.keys(functionList).map(() => "CodeDeployDefault.LambdaCanary10Percent10Minutes"),
  );
  expect(section("Settings")).toMatch(/a tenth of\s+the\s+requests for ten\s+minutes/);
  // Even if the functions went one after the other.
  expect(deployEnvironment.jobs["deploy"]?.["timeout-minutes"]).toBeGreaterThanOrEqual(
    10 * Object.keys(functionList).length + 20,
  );
});

test("commands name scripts that exist, and stacks by their exact names", () => {
  for (const [, script = ""] of commands.matchAll(/npm run (?:-\S+ )*([\w-]+)/g)) {
    expect(Object.keys(packageJson.scripts)).toContain(script);
  }
  expect(commands).not.toContain('"*-');
});
