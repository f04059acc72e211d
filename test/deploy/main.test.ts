import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  CloudFormationClient,
  DescribeStacksCommand,
  GetTemplateCommand,
  type StackStatus,
} from "@aws-sdk/client-cloudformation";
import {
  DescribeTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
} from "@aws-sdk/client-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { runDeploy } from "../../infra/deploy/main.ts";
import { readDeployedStack, requireAdoptedTables } from "../../infra/deploy/stacks.ts";
import { type Environment, environments } from "../../infra/environments.ts";
import { watched } from "../helpers/watched.ts";

const { stackName } = environments.staging;

const using = (table: string) => ({
  Resources: {
    List: {
      Type: "AWS::Lambda::Function",
      Properties: { Environment: { Variables: { ORDERS_TABLE: table } } },
    },
  },
});

let app: string;
beforeAll(async () => {
  app = await mkdtemp(join(tmpdir(), "pet-store-orders-deploy-"));
  const properties = { templateFile: "next.json" };
  await writeFile(
    join(app, "manifest.json"),
    JSON.stringify({ artifacts: { [stackName]: { properties } } }),
  );
  await writeFile(join(app, "next.json"), JSON.stringify(using("NEW")));
  await writeFile(join(app, "saved.json"), JSON.stringify(using("OLD")));
  await writeFile(join(app, "broken.json"), "# no template");
  await writeFile(join(app, "cut.json"), '{ "Resources": {');
  await mkdir(join(app, "other"));
  await writeFile(join(app, "other/manifest.json"), '{ "name": "of something else" }');
  const keys = ["aws_access_key_id", "aws_secret_access_key"].map((name) => `${name} = other\n`);
  await writeFile(join(app, "credentials"), `[other]\n${keys.join("")}`);
  return () => rm(app, { recursive: true });
});

/** Puts a stand-in for CDK on the path, which ends by this command. */
function cdkEnds(command: string): Promise<void> {
  return writeFile(join(app, "cdk"), `#!/bin/sh\necho "cdk $*" >> "$CDK_CALLS"; ${command}\n`, {
    mode: 0o755,
  });
}

/** CloudFormation, which knows the stack, and DynamoDB, which has one table, `there`. */
const [cloudFormation, dynamoDb] = [mockClient(CloudFormationClient), mockClient(DynamoDBClient)];
const missing = new ResourceNotFoundException({ message: "", $metadata: {} });
afterAll(() => {
  cloudFormation.restore();
  dynamoDb.restore();
});
beforeEach(async () => {
  await cdkEnds("exit 7");
  for (const name of ["AWS_PROFILE", "AWS_REGION"]) vi.stubEnv(name, undefined);
  deployed("UPDATE_COMPLETE");
  dynamoDb.reset();
  dynamoDb
    .on(DescribeTableCommand)
    .rejects(missing)
    .on(DescribeTableCommand, { TableName: "there" })
    .resolves({});
});

function deployed(status: StackStatus | Error): void {
  cloudFormation.reset();
  cloudFormation.on(GetTemplateCommand).resolves({ TemplateBody: JSON.stringify(using("OLD")) });
  if (status instanceof Error) cloudFormation.on(DescribeStacksCommand).rejects(status);
  else {
    const stack = {
      StackName: stackName,
      CreationTime: new Date(),
      EnableTerminationProtection: true,
    };
    cloudFormation
      .on(DescribeStacksCommand)
      .resolves({ Stacks: [{ ...stack, StackStatus: status }] });
  }
}
const gone = new Error(`Stack with id ${stackName} does not exist`);

/** Runs a command, and gives what it and the stand-in for CDK print. */
async function run(...words: string[]): Promise<{ exitCode: unknown; output: unknown[] }> {
  const calls = join(app, "cdk.calls");
  await writeFile(calls, "");
  const env = {
    PATH: `${app}:${process.env["PATH"]}`,
    CDK_CALLS: calls,
    AWS_DEFAULT_REGION: "eu-central-1",
    AWS_SHARED_CREDENTIALS_FILE: join(app, "credentials"),
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
  };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const complain = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const { printed, exitCode } = await watched(() => runDeploy(words));
  const complaints = complain.mock.calls.map(([text]) => String(text).trim());
  complain.mockRestore();
  const ofCdk = (await readFile(calls, "utf8")).split("\n").filter(Boolean);
  return { exitCode, output: [...printed, ...complaints, ...ofCdk] };
}

const inUse = "orders-table-in-use  ORDERS_TABLE: OLD becomes NEW";
const protection = "termination-protection  the stack can then be deleted";
const accept = ["--accept", "orders-table-in-use  termination-protection"];

test("each finding is a line, stops a deployment before CDK starts, also after a rollback, and passes once accepted", async () => {
  const stacks = { compare: "UPDATE_COMPLETE", deploy: "UPDATE_ROLLBACK_COMPLETE" } as const;
  for (const [verb, status] of Object.entries(stacks)) {
    deployed(status);
    const { exitCode, output } = await run(verb, "staging", "--app", app, "--accept", "tls");
    expect([exitCode, output]).toEqual([
      1,
      [
        `${stackName}, compared with what is deployed: 2 findings`,
        `STOP  ${inUse}`,
        `STOP  ${protection}`,
        'If that is meant: --accept "orders-table-in-use termination-protection"',
        "Nothing to accept by the name tls",
      ],
    ]);
    for (const call of cloudFormation.calls())
      expect(call.args[0].input).toEqual({ StackName: stackName });
  }
  expect(await run("compare", "staging", "--app", app, ...accept)).toMatchObject({
    exitCode: 0,
    output: [expect.any(String), `accepted  ${inUse}`, `accepted  ${protection}`],
  });
});

test("a table to adopt must exist, or CloudFormation would make an empty one under the misspelt name", async () => {
  const adopting = (TableName: string) =>
    JSON.stringify({
      Resources: { Restored: { Type: "AWS::DynamoDB::Table", Properties: { TableName } } },
    });
  onTestFinished(() => writeFile(join(app, "next.json"), JSON.stringify(using("NEW"))));
  deployed(gone);
  await writeFile(join(app, "next.json"), adopting("there"));
  expect((await run("compare", "staging", "--app", app)).exitCode).toBe(0);
  await writeFile(join(app, "next.json"), adopting("misspelt"));
  for (const stack of [gone, "UPDATE_COMPLETE"] as const) {
    deployed(stack);
    expect(await run("deploy", "staging", "--app", app)).toEqual({
      exitCode: 2,
      output: ["There is no table misspelt: the stack would make an empty one"],
    });
  }
  dynamoDb.on(DescribeTableCommand).rejects(new Error("You may not look it up"));
  const output = ["You may not look it up"];
  expect(await run("deploy", "staging", "--app", app)).toEqual({ exitCode: 2, output });
});

test("a saved template is compared without asking AWS", async () => {
  const saved = join(app, "saved.json");
  const { exitCode, output } = await run("compare", "staging", "--app", app, "--template", saved);
  expect([exitCode, output.slice(0, 2)]).toEqual([
    1,
    [`${stackName}, compared with ${saved}: 1 finding`, `STOP  ${inUse}`],
  ]);
  expect(cloudFormation.calls()).toEqual([]);
});

test("the command runs what is typed, and exits with its code", async () => {
  const main = fileURLToPath(new URL("../../infra/deploy/main.ts", import.meta.url));
  const words = ["compare", "staging", "--app", app, "--template", join(app, "saved.json")];
  const ended = promisify(execFile)(process.execPath, [main, ...words]);
  await expect(ended).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringContaining(`STOP  ${inUse}`),
  });
});

// A change set that was made but never run leaves the first of them.
test.each(["REVIEW_IN_PROGRESS" as const, "ROLLBACK_COMPLETE" as const, gone])(
  "a first deployment has nothing to compare with: %s",
  async (status) => {
    deployed(status);
    const output = [`${stackName} is not deployed yet: nothing to compare with`];
    expect(await run("compare", "staging", "--app", app)).toEqual({ exitCode: 0, output });
  },
);

test("what can't be compared is one line, and exits with 2", async () => {
  const wrong: [string[], RegExp][] = [
    [["compare", "nowhere"], /^error: 'nowhere' is invalid.*staging, production/],
    [["compare", "production", "--app", app], /has no stack/],
    [["compare", "staging", "--app", join(app, "other")], /other has no stack/],
    ...["broken.json", "cut.json"].map((name): [string[], RegExp] => [
      ["compare", "staging", "--app", app, "--template", join(app, name)],
      new RegExp(`${name} is not a template in JSON`),
    ]),
    [["compare", "staging", "--app", app], /You may not/],
    [
      ["deploy", "staging", "--app", app, "-c", "canary=false"],
      /'-c.*' cannot be used with option '--app/,
    ],
  ];
  deployed(new Error("You may not"));
  for (const [words, message] of wrong) {
    expect(await run(...words)).toEqual({ exitCode: 2, output: [expect.stringMatching(message)] });
  }
});

test("what is accepted is deployed: the assembly that was compared, the exact stack alone, tables by their names", async () => {
  const repeated = ["--accept", "orders-table-in-use", "--accept", "termination-protection"];
  const options = ["--require-approval", "never"];
  const { exitCode, output } = await run(
    "deploy",
    "staging",
    ...repeated,
    "--app",
    app,
    ...options,
  );
  const words = `deploy ${stackName} --exclusively --import-existing-resources --require-approval never --app ${app}`;
  expect([exitCode, output.at(-1)]).toEqual([7, `cdk ${words}`]);
});

test("a deployment fails when CDK is killed", async () => {
  await cdkEnds("kill $$");
  expect((await run("deploy", "staging", ...accept, "--app", app)).exitCode).toBe(1);
});

test.each([undefined, "eu-west-3"])(
  "what is compared is in the account and region that CDK deploys to, with AWS_REGION %s",
  async (region) => {
    // The SDK says that a later version may prefer the keys of the environment.
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    onTestFinished(() => warn.mockRestore());
    vi.stubEnv("AWS_REGION", region);
    vi.stubEnv("AWS_PROFILE", "of-the-shell");
    const { output } = await run(
      "deploy",
      "staging",
      "--app",
      app,
      "--profile",
      "other",
      ...accept,
    );
    expect(output).toContainEqual(expect.stringMatching(/^cdk deploy .* --profile other /));
    const { account }: Environment = environments.staging;
    for (const { thisValue } of cloudFormation.calls()) {
      expect(await thisValue.config.region()).toBe(account?.region ?? region ?? "eu-central-1");
      expect(await thisValue.config.credentials()).toMatchObject({ accessKeyId: "other" });
    }
  },
);

test("a stack that belongs to a region is compared there, wherever the caller is", async () => {
  const pinned: Environment = {
    ...environments.staging,
    account: { id: "111111111111", region: "eu-north-1" },
  };
  const adopting = {
    Resources: { Restored: { Type: "AWS::DynamoDB::Table", Properties: { TableName: "there" } } },
  };
  vi.stubEnv("AWS_REGION", "eu-west-3");
  const stack = await readDeployedStack(pinned);
  await requireAdoptedTables(pinned, stack?.template, adopting);
  const asked = [...cloudFormation.calls(), ...dynamoDb.calls()].map(({ thisValue }) =>
    thisValue.config.region(),
  );
  expect(await Promise.all(asked)).toEqual(["eu-north-1", "eu-north-1", "eu-north-1"]);
});

test("without an assembly, one is synthesised with the context given, compared and deployed", async () => {
  const synth = "cdk synth --quiet --output cdk.out --context canary=false --context a=b c";
  const deploy = () =>
    run("deploy", "staging", ...accept, "-c", "canary=false", "--context", "a=b c");
  expect(await deploy()).toEqual({ exitCode: 2, output: [synth] });
  const home = process.cwd();
  onTestFinished(() => process.chdir(home));
  process.chdir(app);
  await symlink(".", "cdk.out");
  await cdkEnds('[ "$1" = synth ] || exit 7');
  const { exitCode, output } = await deploy();
  const deployment = `cdk deploy ${stackName} --exclusively --import-existing-resources --app cdk.out`;
  expect([exitCode, output.slice(-2)]).toEqual([7, [synth, deployment]]);
});

test("a diff is the exact stack's alone, and says when it is not with what is deployed", async () => {
  const said = "Compared with a saved template, not with what is deployed.";
  const diff = `cdk diff ${stackName} --exclusively`;
  expect(await run("diff", "staging", "--app", app)).toMatchObject({
    output: [`${diff} --app ${app}`],
  });
  const output = [said, `${diff} --template saved.json`];
  expect(await run("diff", "staging", "--template", "saved.json")).toEqual({ exitCode: 7, output });
});
