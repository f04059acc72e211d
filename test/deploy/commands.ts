import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CloudFormationClient,
  DescribeStacksCommand,
  GetTemplateCommand,
  type StackStatus,
} from "@aws-sdk/client-cloudformation";
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DynamoDBClient,
} from "@aws-sdk/client-dynamodb";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { mockClient } from "aws-sdk-client-mock";
import { afterAll, beforeAll, beforeEach, vi } from "vitest";
import { runDeploy } from "../../infra/deploy/deploy.ts";
import type { Environment } from "../../infra/environments.ts";
import { everyOption } from "../helpers/fixture-environments.ts";

const { account: pinned, ...fixture } = everyOption;

/** An environment that keeps its data, and is pinned to no account. */
export const environment: Environment = { ...fixture, name: "kept" };
export const { stackName } = environment;

/** The environments that commands know here. */
const entries: Record<string, Environment> = {
  kept: environment,
  loose: { ...environment, name: "loose", keepData: false },
  pinned: { ...environment, name: "pinned", account: pinned },
};

export const account = "111111111111";
export const region = "eu-central-1";

/** A template whose function finds its orders in a table. */
export const using = (table: string, description = "Pet store orders service, kept") => ({
  Description: description,
  Resources: {
    List: {
      Type: "AWS::Lambda::Function",
      Properties: { Environment: { Variables: { ORDERS_TABLE: table } } },
    },
  },
});

/** AWS, as far as it is asked. */
export const cloudFormation = mockClient(CloudFormationClient);
export const dynamoDb = mockClient(DynamoDBClient);
export const sts = mockClient(STSClient);

/** Has CloudFormation describe the stack with this status, or fail. */
export function deployed(status: StackStatus | Error): void {
  cloudFormation.reset();
  cloudFormation.on(GetTemplateCommand).resolves({ TemplateBody: JSON.stringify(using("OLD")) });
  if (status instanceof Error) {
    cloudFormation.on(DescribeStacksCommand).rejects(status);
    return;
  }
  const stack = {
    StackName: stackName,
    CreationTime: new Date(),
    EnableTerminationProtection: true,
  };
  const Stacks = [{ ...stack, StackStatus: status }];
  cloudFormation.on(DescribeStacksCommand).resolves({ Stacks });
}

export const noStack = new Error(`Stack with id ${stackName} does not exist`);

/** Makes the calls to AWS fail, and has them answered again before each test. */
export function useAws(): void {
  beforeEach(() => {
    for (const name of ["AWS_PROFILE", "AWS_REGION"]) vi.stubEnv(name, undefined);
    deployed("UPDATE_COMPLETE");
    sts.reset();
    sts.on(GetCallerIdentityCommand).resolves({ Account: account });
    dynamoDb.reset();
    dynamoDb.on(DescribeTableCommand).rejects(new Error("Not expected"));
    dynamoDb.on(DescribeContinuousBackupsCommand).rejects(new Error("Not expected"));
  });
  afterAll(() => {
    for (const client of [cloudFormation, dynamoDb, sts]) client.restore();
  });
}

/** A synthesised app, with a stand-in for CDK beside it. */
export interface App {
  /** Its directory. */
  directory: string;
  /** Writes what comes, as the template of the environment's stack. */
  synthesised(template: object): Promise<void>;
  /** Makes the stand-in for CDK end by this shell command. */
  cdkEnds(command: string): Promise<void>;
  /** Runs a command, and returns its exit code with what it and the stand-in for CDK print. */
  run(...words: string[]): Promise<{ exitCode: unknown; output: unknown[] }>;
}

/** Makes an app for the tests of a file. Its `directory` is known once they run. */
export function useApp(): App {
  const app: App = { directory: "", synthesised, cdkEnds, run };
  const file = (name: string) => join(app.directory, name);
  beforeAll(async () => {
    app.directory = await mkdtemp(join(tmpdir(), "pet-store-orders-deploy-"));
    const artifacts = { [stackName]: { properties: { templateFile: "next.json" } } };
    await writeFile(file("manifest.json"), JSON.stringify({ artifacts }));
    const settings = ["aws_access_key_id", "aws_secret_access_key"].map(
      (name) => `${name} = other`,
    );
    await writeFile(file("credentials"), ["[other]", ...settings, ""].join("\n"));
    return () => rm(app.directory, { recursive: true });
  });
  beforeEach(async () => {
    await synthesised(using("NEW"));
    await cdkEnds("exit 7");
  });

  function synthesised(template: object): Promise<void> {
    return writeFile(file("next.json"), JSON.stringify(template));
  }
  function cdkEnds(command: string): Promise<void> {
    const script = `#!/bin/sh\necho "cdk $*" >> "$CDK_CALLS"; ${command}\n`;
    return writeFile(file("cdk"), script, { mode: 0o755 });
  }
  async function run(...words: string[]): Promise<{ exitCode: unknown; output: unknown[] }> {
    const calls = file("cdk.calls");
    await writeFile(calls, "");
    vi.stubEnv("PATH", `${app.directory}:${process.env["PATH"]}`);
    vi.stubEnv("CDK_CALLS", calls);
    vi.stubEnv("AWS_DEFAULT_REGION", region);
    vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", file("credentials"));
    vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
    const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    const { printed, exitCode } = await watched(() => runDeploy(words, entries));
    const complaints = write.mock.calls.map(([text]) => String(text).trim());
    write.mockRestore();
    const ofCdk = (await readFile(calls, "utf8")).split("\n").filter(Boolean);
    return { exitCode, output: [...printed, ...complaints, ...ofCdk] };
  }
  return app;
}

/** Runs something, and gives the lines that it prints and its exit code. */
async function watched(run: () => void | Promise<void>) {
  const { exitCode } = process;
  const print = vi.spyOn(console, "log").mockReturnValue();
  const complain = vi.spyOn(console, "error").mockReturnValue();
  try {
    process.exitCode = 0;
    await run();
    return {
      printed: [...print.mock.calls, ...complain.mock.calls].flat(),
      exitCode: process.exitCode,
    };
  } finally {
    process.exitCode = exitCode;
    print.mockRestore();
    complain.mockRestore();
  }
}
