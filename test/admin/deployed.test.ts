import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CloudFormationClient } from "@aws-sdk/client-cloudformation";
import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { findDeployedStack } from "../../infra/admin/target.ts";
import { type Environment, environments } from "../../infra/environments.ts";
import { errorLine } from "../../infra/terminal/errors.ts";
import { unnoticed } from "../helpers/faults/faults.ts";
import { readAssembly } from "../helpers/read-assembly.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { createOperator } from "./admin-process.ts";
import { commandsHere, deployProduction } from "./command-here.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);
const { production, staging } = environments;
const region = production.account?.region ?? "eu-central-1";
// Whatever account and region they are pinned to.
const { account: _, ...unpinned } = production;
const { account: __, ...unpinnedStaging } = staging;

/** The line of a failure to find a stack with these settings. */
async function notFound(
  environment: Environment = unpinned,
  env: Record<string, string> = {},
): Promise<string> {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  return findDeployedStack(environment).then(() => "found", errorLine);
}

describe("a command for a deployed environment", () => {
  test("finds its tables by outputs that the stack has", async () => {
    const { directory } = await readAssembly();
    const template = await readFile(join(directory, `${staging.stackName}.template.json`), "utf8");
    expect(JSON.parse(template).Outputs).toMatchObject({
      OrdersTableName: {},
      ApiKeysTableName: {},
    });
  });

  test("names the account and the region", async () => {
    const { code, stderr } = await commandsHere(tables)(["keys", "issue", "--name", "Acme"]);
    expect(code).toBe(0);
    const place = `production: AWS account 210987654321, region ${region}`;
    expect(stderr).toMatch(new RegExp(`^${place}\nIssued key_\\w+ to Acme; it never expires\\. `));
  });

  test("signs for its region", async () => {
    const signatures: unknown[] = [];
    const { proxy } = await tables.behindProxy(
      ({ headers }) => void signatures.push(headers.authorization),
    );
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE");
    await commandsHere(tables, proxy.endpoint)(["keys", "issue", "--name", "Acme"]);
    const scope = new RegExp(`Credential=AKIAEXAMPLE/\\d{8}/${region}/dynamodb/`);
    expect(signatures).toEqual([expect.stringMatching(scope)]);
  });

  // An empty response is a lost one.
  test("writes a key again when the response was lost", async () => {
    const { proxy } = await tables.behindProxy(({ attempt }) =>
      attempt === 1 ? unnoticed["an empty response of no length"] : undefined,
    );
    const run = commandsHere(tables, proxy.endpoint);
    expect(await run(["keys", "issue", "--name", "Acme"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`^${production.apiKeyPrefix}_\\w{49}\n$`)),
    });
    expect(proxy.attempts.get("PutItem")).toBe(2);
    expect(await tables.items("apiKeys")).toHaveLength(1);
  });

  test("works in the region that its environment is pinned to", async () => {
    deployProduction({ OrdersTableName: "orders", ApiKeysTableName: "keys" });
    const account = { id: "210987654321", region: "eu-north-1" };
    const { client, description } = await findDeployedStack({ ...production, account });
    expect(description).toBe("production: AWS account 210987654321, region eu-north-1");
    expect(await client.config.region()).toBe("eu-north-1");
  });

  test("fails when the stack does not exist or lacks an output", async () => {
    deployProduction({ OrdersTableName: "orders" });
    expect(await notFound()).toBe(
      `Stack ${production.stackName} (UPDATE_COMPLETE) has no output ApiKeysTableName. Was it deployed completely?`,
    );
    expect(await notFound(unpinnedStaging)).toBe(
      `No stack ${staging.stackName} in region eu-central-1 of this AWS account. ` +
        "Deploy it, or choose another region or account",
    );
  });

  test("fails with what CloudFormation says about other things than a missing stack", async () => {
    const cloudFormation = mockClient(CloudFormationClient);
    onTestFinished(() => cloudFormation.restore());
    const rejection = (name: string, message: string) => {
      cloudFormation.rejects(Object.assign(new Error(message), { name }));
      return notFound();
    };
    expect(await rejection("AccessDenied", "Role x does not exist")).toBe(
      "AWS denied access: Role x does not exist",
    );
    expect(await rejection("ValidationError", "A bad name")).toMatch(
      /^Unexpected error: ValidationError: A bad name\./,
    );
  });

  test("gives each call five attempts of ten seconds", async () => {
    deployProduction({ OrdersTableName: "orders", ApiKeysTableName: "keys" });
    const { client } = await findDeployedStack(production);
    // The handler reads its settings with its first call.
    await client
      .send(new ListTablesCommand(), { abortSignal: AbortSignal.abort() })
      .catch(() => {});
    const config = { connectionTimeout: 3000, requestTimeout: 10_000, throwOnRequestTimeout: true };
    expect(client.config.requestHandler).toMatchObject({ config });
    expect(await client.config.maxAttempts()).toBe(5);
  });

  test("fails in one line without a secret when it lacks credentials, region or response", async () => {
    const unreachable = {
      AWS_SECRET_ACCESS_KEY: "secret",
      AWS_ENDPOINT_URL_CLOUDFORMATION: "http://127.0.0.1:1",
    };
    expect(await notFound(unpinned, unreachable)).toBe(
      "No response from 127.0.0.1:1 (ECONNREFUSED)",
    );
    // Nor is there a region in the operator's profile.
    vi.stubEnv("AWS_REGION", undefined);
    vi.stubEnv("HOME", operator.folder);
    expect(await notFound()).toMatch(/^No AWS region\. [^\n]*$/);
    const signedOut = {
      AWS_REGION: "eu-central-1",
      AWS_ACCESS_KEY_ID: "",
      AWS_EC2_METADATA_DISABLED: "true",
    };
    expect(await notFound(unpinned, signedOut)).toMatch(/^No usable AWS credentials/);
    expect(await notFound(unpinned, { AWS_PROFILE: "nobody" })).toMatch(
      /^The AWS profile nobody does not exist or has no usable credentials/,
    );
  });
});
