import dns from "node:dns";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CloudFormationClient } from "@aws-sdk/client-cloudformation";
import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
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
// The same environments, pinned to no account or region.
const { account: _, ...unpinned } = production;
const { account: __, ...unpinnedStaging } = staging;

/** The line that an operator sees when the environment's stack can't be found. */
async function failureLine(environment: Environment = unpinned): Promise<string> {
  try {
    await findDeployedStack(environment);
  } catch (error) {
    return errorLine(error);
  }
  throw new Error("The stack was found");
}

describe("a command for a deployed environment", () => {
  test("needs only outputs that the template has", async () => {
    const { directory } = await readAssembly();
    const template = await readFile(join(directory, `${staging.stackName}.template.json`), "utf8");
    expect(JSON.parse(template).Outputs).toMatchObject({
      OrdersTableName: {},
      ApiKeysTableName: {},
    });
  });

  test("names the account and the region", async () => {
    const run = commandsHere(tables);
    const { stderr } = await run(["keys", "issue", "--name", "Acme"]);
    const [firstLine] = stderr.split("\n");
    expect(firstLine).toBe(`production: AWS account 210987654321, region ${region}`);
  });

  test("signs for its region", async () => {
    const signatures: unknown[] = [];
    const { proxy } = await tables.behindProxy(({ headers }) => {
      signatures.push(headers.authorization);
      return undefined;
    });
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE");
    const run = commandsHere(tables, proxy.endpoint);
    await run(["keys", "issue", "--name", "Acme"]);
    const scope = new RegExp(`Credential=AKIAEXAMPLE/\\d{8}/${region}/dynamodb/`);
    expect(signatures).toEqual([expect.stringMatching(scope)]);
  });

  // The table has the key, but the response never arrived.
  test("writes a key again when the response was lost", async () => {
    const { proxy } = await tables.behindProxy(({ attempt }) =>
      attempt === 1 ? unnoticed["an empty response of no length"] : undefined,
    );
    const run = commandsHere(tables, proxy.endpoint);
    const { code, stdout } = await run(["keys", "issue", "--name", "Acme"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^${production.apiKeyPrefix}_\\w{49}\n$`));
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

  test("fails when its stack lacks an output", async () => {
    deployProduction({ OrdersTableName: "orders" });
    expect(await failureLine()).toBe(
      `Stack ${production.stackName} (UPDATE_COMPLETE) has no output ApiKeysTableName. ` +
        "Was it deployed completely?",
    );
  });

  test("fails when its stack does not exist", async () => {
    deployProduction({ OrdersTableName: "orders" });
    expect(await failureLine(unpinnedStaging)).toBe(
      `No stack ${staging.stackName} in region eu-central-1 of this AWS account. ` +
        "Deploy it, or choose another region or account",
    );
  });

  // Each has half of what marks a missing stack.
  test.each([
    ["AccessDenied", "Role x does not exist", /^AWS denied access: Role x does not exist$/],
    ["ValidationError", "A bad name", /^Unexpected error: ValidationError: A bad name\. /],
  ])("reports CloudFormation's %s: %s", async (name, message, line) => {
    const cloudFormation = mockClient(CloudFormationClient);
    onTestFinished(() => cloudFormation.restore());
    cloudFormation.rejects(Object.assign(new Error(message), { name }));
    expect(await failureLine()).toMatch(line);
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

  describe("fails in one line, with what to do, at an endpoint that is not AWS's:", () => {
    const { stackName } = production;
    const config = join(operator.folder, "config");
    beforeAll(() => writeFile(config, "[default]\nendpoint_url = http://127.0.0.1:1\n"));

    test.each<[what: string, env: Record<string, string>, host: string, reason: RegExp]>([
      [
        "the local stack's",
        { AWS_ENDPOINT_URL: tables.dynamodbEndpoint },
        new URL(tables.dynamodbEndpoint).host,
        /Unexpected error: .*/,
      ],
      [
        "one that does not respond",
        { AWS_ENDPOINT_URL_CLOUDFORMATION: "http://127.0.0.1:1" },
        "127.0.0.1:1",
        /No response from 127\.0\.0\.1:1 \(ECONNREFUSED\)/,
      ],
      ["a profile's", { AWS_CONFIG_FILE: config }, "127.0.0.1:1", /No response from .*/],
    ])("%s", async (_, env, host, reason) => {
      vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
      for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
      const line = new RegExp(
        `^No stack ${stackName} at ${host}, which is not AWS \\(${reason.source}\\)\\. ` +
          "Unset AWS_ENDPOINT_URL, or endpoint_url in your profile$",
      );
      expect(await failureLine()).toMatch(line);
      expect(await failureLine()).not.toContain("secret");
    });
  });

  test("asks whether the region is right when AWS has no such host", async () => {
    vi.stubEnv("AWS_REGION", "eu-centrl-1");
    const hostname = "cloudformation.eu-centrl-1.amazonaws.com";
    const unknown = Object.assign(new Error("getaddrinfo"), { code: "ENOTFOUND", hostname });
    const lookup = vi.spyOn(dns, "lookup").mockImplementation((...args: unknown[]) => {
      const done = args.at(-1);
      if (typeof done === "function") process.nextTick(done, unknown);
    });
    onTestFinished(() => lookup.mockRestore());
    expect(await failureLine()).toBe(
      `No response from ${hostname} (ENOTFOUND; is the region right?)`,
    );
  });

  test("fails in one line when no region is set", async () => {
    vi.stubEnv("AWS_REGION", undefined);
    // An empty home folder: no profile sets a region either.
    vi.stubEnv("HOME", operator.folder);
    expect(await failureLine()).toMatch(/^No AWS region\. .*$/);
  });

  test("fails in one line when there are no credentials", async () => {
    vi.stubEnv("AWS_ACCESS_KEY_ID", "");
    vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
    vi.stubEnv("HOME", operator.folder);
    expect(await failureLine()).toMatch(/^No usable AWS credentials .*$/);
  });

  test("fails in one line when the profile does not exist", async () => {
    vi.stubEnv("AWS_ACCESS_KEY_ID", "");
    vi.stubEnv("AWS_PROFILE", "nobody");
    vi.stubEnv("HOME", operator.folder);
    expect(await failureLine()).toMatch(
      /^The AWS profile nobody does not exist or has no usable credentials .*$/,
    );
  });
});
