import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { beforeEach, describe, expect, inject, onTestFinished, test, vi } from "vitest";
import { errorLine } from "../../infra/admin/errors.ts";
import { findDeployedStack } from "../../infra/admin/target.ts";
import { environments } from "../../infra/environments.ts";
import { createOperator, type Ended } from "../helpers/admin/admin-process.ts";
import { here } from "../helpers/admin/command-here.ts";
import { type FakeStack, startFakeCloudFormation, startSilentServer } from "../helpers/admin/fake-cloudformation.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";
import { unnoticed } from "../helpers/faults/faults.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);

const credentials = {
  AWS_ACCESS_KEY_ID: "AKIAEXAMPLE",
  AWS_SECRET_ACCESS_KEY: "not-to-be-seen",
  AWS_SESSION_TOKEN: "nor-this",
};
const region = { AWS_REGION: "eu-central-1" };

/** Starts a CloudFormation that knows one stack, until the test ends, and gives the environment that leads there. */
async function cloudFormationWith(stack: FakeStack): Promise<Record<string, string>> {
  const { endpoint, stop } = await startFakeCloudFormation(stack);
  onTestFinished(stop);
  return { AWS_ENDPOINT_URL_CLOUDFORMATION: endpoint };
}

/** Production's stack, with the outputs that the synthesised template has, holding the tables of this file. */
async function productionStack(): Promise<FakeStack> {
  const file = join(inject("assembly"), `${environments.staging.stackName}.template.json`);
  const { Outputs } = JSON.parse(await readFile(file, "utf8"));
  const values = [
    ["BaseUrl", "https://example.com/v1"],
    ["OrdersTableName", tables.tables.orders],
    ["ApiKeysTableName", tables.tables.apiKeys],
  ];
  const outputs = Object.fromEntries(values.filter(([name = ""]) => name in Outputs));
  return { name: environments.production.stackName, account: "210987654321", region: region.AWS_REGION, outputs };
}

/** The one line that a failed command has printed, which must hold no secret. */
function failure({ code, stdout, stderr }: Ended): string {
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).not.toMatch(/not-to-be-seen|nor-this/);
  return stderr.trimEnd();
}

/** The line of a failure to find production with these settings. */
async function notFound(env: Record<string, string>): Promise<string> {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  return findDeployedStack(environments.production).then(() => "found", errorLine);
}

const listKeys = ["keys", "list", "--env", "production"];

describe("a command for a deployed environment", () => {
  test("names the account, and works there on the tables that the stack's outputs name", async () => {
    const cloudFormation = await cloudFormationWith(await productionStack());
    const scopes: string[] = [];
    // An empty response is a lost one: the key is written again.
    const { proxy } = await tables.behindProxy(({ headers, attempt }) => {
      scopes.push(String(headers.authorization));
      return attempt === 1 ? unnoticed["an empty response of no length"] : undefined;
    });
    const { code, stdout, stderr } = await operator.run(["--env", "production", "keys", "issue", "--name", "Acme"], {
      env: { ...credentials, ...region, ...cloudFormation, AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint },
    });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`^${environments.production.apiKeyPrefix}_\\w{49}\n$`)),
    });
    expect(stderr).toMatch(/^production: AWS account 210987654321, region eu-central-1\nIssued key_/);
    expect(await tables.items("apiKeys")).toHaveLength(1);
    const scope = expect.stringMatching(/Credential=AKIAEXAMPLE\/\d{8}\/eu-central-1\/dynamodb\//);
    expect(scopes).toEqual([scope, scope]);
  });

  test("fails when the stack does not exist or lacks an output", async () => {
    const { outputs, ...stack } = await productionStack();
    const signedIn = { ...credentials, ...region };
    const withoutKeysTable = await cloudFormationWith({ ...stack, outputs: { OrdersTableName: "orders" } });
    expect(await notFound({ ...signedIn, ...withoutKeysTable })).toBe(
      `Stack ${environments.production.stackName} (UPDATE_COMPLETE) has no output ApiKeysTableName. Was it deployed completely?`,
    );
    const otherStack = await cloudFormationWith({ ...stack, name: "Other", outputs });
    expect(await notFound({ ...signedIn, ...otherStack })).toBe(
      `No stack ${environments.production.stackName} in region eu-central-1 of this AWS account. ` +
        "Deploy it, or choose another region or account",
    );
  });

  test("fails without credentials, a region or a response", async () => {
    const cloudFormation = await cloudFormationWith(await productionStack());
    const signedOut = await operator.run(listKeys, { env: { ...region, ...cloudFormation } });
    expect(failure(signedOut)).toMatch(/^No usable AWS credentials/);
    const noProfile = { AWS_PROFILE: "nobody", AWS_ACCESS_KEY_ID: "", HOME: operator.folder };
    expect(await notFound({ ...cloudFormation, ...noProfile })).toMatch(
      /^The AWS profile nobody does not exist or has no usable credentials/,
    );
    // Nor is there one in the operator's profile.
    const nowhere = {
      AWS_REGION: undefined,
      AWS_PROFILE: undefined,
      AWS_CONFIG_FILE: undefined,
      HOME: operator.folder,
    };
    for (const [name, value] of Object.entries({ ...credentials, ...cloudFormation, ...nowhere })) {
      vi.stubEnv(name, value);
    }
    expect(failure(await here(listKeys))).toMatch(/^No AWS region/);
    const unreachable = { AWS_ENDPOINT_URL_CLOUDFORMATION: "http://127.0.0.1:1" };
    expect(await notFound({ ...credentials, ...region, ...unreachable })).toBe(
      "No response from 127.0.0.1:1 (ECONNREFUSED)",
    );
  });

  test("gives each call five attempts of ten seconds, and does not merely warn when they are over", async () => {
    const stack = await cloudFormationWith(await productionStack());
    for (const [name, value] of Object.entries({ ...credentials, ...region, ...stack })) vi.stubEnv(name, value);
    const { client } = await findDeployedStack(environments.production);
    // The handler reads its settings with its first call.
    await client.send(new ListTablesCommand(), { abortSignal: AbortSignal.abort() }).catch(() => {});
    const { requestHandler } = client.config;
    const limits = { connectionTimeout: 3000, requestTimeout: 10_000, throwOnRequestTimeout: true };
    if (!("httpHandlerConfigs" in requestHandler && typeof requestHandler.httpHandlerConfigs === "function")) {
      throw new Error("The SDK's handler has no settings");
    }
    expect(requestHandler.httpHandlerConfigs()).toMatchObject(limits);
    expect(await client.config.maxAttempts()).toBe(5);
    client.destroy();
  });

  test("does not wait for credentials that never come", async () => {
    const silent = await startSilentServer();
    onTestFinished(silent.stop);
    const onEc2 = { AWS_EC2_METADATA_DISABLED: "", AWS_EC2_METADATA_SERVICE_ENDPOINT: silent.endpoint };
    const ended = await operator.run(listKeys, { env: { ...region, ...onEc2 } });
    expect(failure(ended)).toMatch(/^No usable AWS credentials/);
  });
});

describe("a command for the local stack", () => {
  const list = ["keys", "list", "--local"];
  beforeEach(() => void vi.stubEnv("LOCAL_STACK_FILE", join(operator.folder, "stack.json")));

  test("fails when none runs, and when it was killed", async () => {
    expect(failure(await here(list))).toBe("No local stack is running. Start one with `npm start`");
    await operator.pointTo({ ...tables, dynamodbEndpoint: "http://127.0.0.1:1" });
    expect(failure(await here(list))).toBe("No local stack is running. Start one with `npm start`");
  });

  test("of several, works on the latest that still runs, and says which", async () => {
    const stackAt = (port: number, dynamodbEndpoint: string) => ({
      baseUrl: `http://localhost:${port}/v1`,
      dynamodbEndpoint,
      tables: tables.tables,
    });
    const alive = [stackAt(2, tables.dynamodbEndpoint), stackAt(1, tables.dynamodbEndpoint)];
    for (const stacks of [alive, [stackAt(3, "http://127.0.0.1:1"), ...alive]]) {
      await operator.write("stack.json", JSON.stringify(stacks));
      expect(await here(list)).toEqual({
        code: 0,
        stdout: "No keys yet.\n",
        stderr: "local: http://localhost:2/v1\n",
      });
    }
  });
});
