import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CloudFormationClient,
  DescribeStackResourceDriftsCommand,
  DescribeStacksCommand,
  GetTemplateCommand,
  type StackStatus,
} from "@aws-sdk/client-cloudformation";
import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { mockClient } from "aws-sdk-client-mock";
import { afterAll, beforeEach, expect, vi } from "vitest";
import type { Environment } from "../../../infra/environments.ts";
import {
  addCompare,
  addDeploy,
  addDiff,
  addDrift,
  addSynth,
} from "../../../infra/tools/deploy/commands.ts";
import { Script } from "../../../infra/tools/terminal/script.ts";
import { everyOption } from "../../helpers/fixture-environments.ts";
import { wordsOf } from "../admin/transcript.ts";

const { account, ...unpinned } = everyOption;
export const { stackName } = everyOption;

const environments: Record<string, Environment> = {
  kept: { ...unpinned, name: "kept" },
  loose: { ...unpinned, name: "loose", keepData: false },
  pinned: { ...unpinned, name: "pinned", account },
};

export const templateUsing = (table: string) => ({
  Description: "Pet store orders service, kept",
  Resources: {
    List: {
      Type: "AWS::Lambda::Function",
      Properties: { Environment: { Variables: { ORDERS_TABLE: table } } },
    },
  },
});

const cloudFormation = mockClient(CloudFormationClient);
export const dynamoDb = mockClient(DynamoDBClient);
export const sts = mockClient(STSClient);
const clients = [sts, cloudFormation, dynamoDb];

export function stackIs(status: StackStatus | Error) {
  const describe = cloudFormation.on(DescribeStacksCommand);
  if (status instanceof Error) {
    describe.rejects(status);
    return;
  }
  const stack = {
    StackName: stackName,
    StackStatus: status,
    CreationTime: new Date(),
    EnableTerminationProtection: true,
    Outputs: [
      { OutputKey: "BaseUrl", OutputValue: "https://example.com" },
      { OutputKey: "OrdersTableName", OutputValue: "Orders-1" },
      { OutputKey: "ApiKeysTableName", OutputValue: "ApiKeys-1" },
    ],
  };
  describe.resolves({ Stacks: [stack] });
}

/** CloudFormation has looked for drift in resources of these types, like `DynamoDB::Table`, but one. */
export function driftIsCheckedOf(types: string[], unchecked?: string) {
  cloudFormation
    .on(DescribeStackResourceDriftsCommand)
    .callsFake(({ StackResourceDriftStatusFilters: wanted }) => ({
      StackResourceDrifts: types
        .filter((type) => wanted.includes(type === unchecked ? "NOT_CHECKED" : "IN_SYNC"))
        .map((type) => ({ ResourceType: `AWS::${type}` })),
    }));
}

/** A synthesised app, with a fake CDK beside it. */
export const directory = mkdtempSync(join(tmpdir(), "pet-store-orders-deploy-"));
const file = (name: string) => join(directory, name);
const properties = { templateFile: "next.json" };
const environment = "aws://unknown-account/unknown-region";
const stack = { type: "aws:cloudformation:stack", environment, properties };
const manifest = { version: "36.0.0", artifacts: { [stackName]: stack } };
writeFileSync(file("manifest.json"), JSON.stringify(manifest));
const script = `#!/bin/sh
echo "cdk $*" >> ${file("cdk.calls")}
/usr/bin/env > ${file("cdk.env")}
echo "home:" $(/bin/ls -A "$HOME") "in $PWD" >> ${file("cdk.env")}
eval "$FAKE_DOES"
`;
writeFileSync(file("cdk"), script, { mode: 0o755 });
writeFileSync(file(".cdk.json"), "{}");
mkdirSync(file("tmp"));
// Put together, or the source would seem to hold a secret: see repository/secrets.test.ts.
const keys = ["access_key_id", "secret_access_key", "session_token"].map(
  (name) => `aws_${name} = other\n`,
);
const [id, secret] = keys;
writeFileSync(file("credentials"), `[other]\n${keys.join("")}[lasting]\n${id}${secret}`);

/**
 * Before each test, the stack is deployed with the table OLD, and synthesised with NEW. These hooks are
 * those of one file: another one in the same process would have none.
 */
beforeEach(() => {
  for (const client of clients) client.reset();
  const deployed = JSON.stringify(templateUsing("OLD"));
  cloudFormation.on(GetTemplateCommand).resolves({ TemplateBody: deployed });
  stackIs("UPDATE_COMPLETE");
  sts.on(GetCallerIdentityCommand).resolves({ Account: account.id });
  // One is in use, and the other one, too, while its settings change.
  const describe = dynamoDb.on(DescribeTableCommand);
  describe.resolves({ Table: { TableStatus: "UPDATING" } });
  describe.resolvesOnce({ Table: { TableStatus: "ACTIVE" } });
  writeFileSync(file("next.json"), JSON.stringify(templateUsing("NEW")));
  const variables = {
    AWS_ACCESS_KEY_ID: "test",
    AWS_DEFAULT_REGION: account.region,
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_PROFILE: undefined,
    AWS_REGION: undefined,
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_SHARED_CREDENTIALS_FILE: file("credentials"),
    // A code that nothing else exits with.
    FAKE_DOES: "exit 7",
    HOME: directory,
    PATH: directory,
    TMPDIR: file("tmp"),
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
});

afterAll(() => {
  for (const client of clients) client.restore();
});

/** Runs a command. Resolves with what it prints, its calls of CDK, and its exit code. */
export async function run(command: string): Promise<string> {
  writeFileSync(file("cdk.calls"), "");
  const lines: string[] = [];
  const print = (text: unknown) => lines.push(String(text).trim()) > 0;
  using _log = vi.spyOn(console, "log").mockImplementation(print);
  using _error = vi.spyOn(console, "error").mockImplementation(print);
  // Commander writes there itself.
  using _stderr = vi.spyOn(process.stderr, "write").mockImplementation(print);
  // The SDK's remark that a later version may prefer the keys of the environment.
  using _warn = vi.spyOn(console, "warn").mockReturnValue();
  const program = new Script("petstore").exitOverride();
  addCompare(program.command("compare"), environments);
  addDeploy(program.command("deploy"), environments);
  addDiff(program.command("diff"), environments);
  addDrift(program.command("drift"), environments);
  addSynth(program.command("synth"));
  await program.run(wordsOf(command));
  expect(readdirSync(file("tmp"))).toEqual([]);
  const calls = readFileSync(file("cdk.calls"), "utf8").split("\n").filter(Boolean);
  const text = [...lines, ...calls, `exit code ${process.exitCode}`].join("\n");
  process.exitCode = 0;
  return text
    .replaceAll(directory, "APP")
    .replaceAll(/\S+pet-store-orders-\w{6}/g, "NEW_FOLDER")
    .replaceAll(stackName, "STACK")
    .replaceAll(`${process.cwd()}/`, "");
}

/** What the last call of CDK inherited from CDK's and AWS's settings, and had in its home. */
export const inherited = () =>
  readFileSync(file("cdk.env"), "utf8")
    .split("\n")
    .filter((line) => /^(CDK|CONTEXT|AWS|AMAZON|home:)/.test(line))
    .sort();

/** A test's calls of AWS, with the key and the region of each. None may wait for ever. */
export function asked(): Promise<string[]> {
  const calls = [...sts.calls(), ...cloudFormation.calls(), ...dynamoDb.calls()];
  const lines = calls.map(async ({ thisValue: { config }, args: [command] }) => {
    const limits = {
      requestTimeout: 10_000,
      socketTimeout: 10_000,
      throwOnRequestTimeout: true,
    };
    expect(await config.requestHandler.configProvider).toMatchObject(limits);
    expect(await config.maxAttempts()).toBe(5);
    const { accessKeyId } = await config.credentials();
    const name = command.constructor.name.replace("Command", "");
    const words = [
      accessKeyId,
      await config.region(),
      name,
      ...Object.values(command.input),
    ];
    return words.join(" ");
  });
  return Promise.all(lines);
}
