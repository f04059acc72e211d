import { writeFile } from "node:fs/promises";
import { CloudFormationClient } from "@aws-sdk/client-cloudformation";
import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { environments } from "../../../infra/environments.ts";
import { findDeployedStack } from "../../../infra/tools/admin/target.ts";
import { errorText } from "../../../infra/tools/terminal/errors.ts";
import type { Behaviour } from "../../helpers/faults/fault-proxy.ts";
import { rejectedAs, unapplied, unnoticed } from "../../helpers/faults/faults.ts";
import { onFirst } from "./calls.ts";
import { deployProduction, productionAccount } from "./production.ts";
import { createTerminal } from "./terminal.ts";

const { dynamodbEndpoint, folder, items, play, playIn, playWatched, stackAt } =
  await createTerminal();
const { production, staging } = environments;
const region = production.account?.region ?? "eu-central-1";
const tables = { orders: "orders", apiKeys: "keys" };

const withEnv = (variables: Record<string, string | undefined>) => () => {
  // An empty home folder: no profile sets anything either.
  for (const [name, value] of Object.entries({ HOME: folder, ...variables }))
    vi.stubEnv(name, value);
};

const signedBy = (key: string) => ({
  authorization: expect.stringMatching(`Credential=${key}/\\d{8}/${region}/dynamodb/`),
});

describe("a command for a deployed environment", () => {
  // The table has the key, but the response never arrived.
  test("names the account, signs for its region, and retries an empty response", async () => {
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE");
    const calls = onFirst("PutItem", unnoticed["an empty response of no length"]);
    const { sent } = await playIn({ calls })`
      $ keys issue --name Acme --env production
      ${production.apiKeyPrefix}_SECRET
      ! production: AWS account ${productionAccount}, region ${region}
      ! Issued key_… to Acme; it never expires. …
    `;
    expect(sent).toMatchObject([signedBy("AKIAEXAMPLE"), signedBy("AKIAEXAMPLE")]);
    expect(await items("apiKeys")).toHaveLength(1);
  });

  test("works in the region it is pinned to, in five attempts of ten seconds each", async () => {
    deployProduction(tables);
    const account = { id: productionAccount, region: "eu-north-1" };
    const { client, description } = await findDeployedStack({ ...production, account });
    expect(description).toBe(
      `production: AWS account ${productionAccount}, region eu-north-1`,
    );
    expect(await client.config.region()).toBe("eu-north-1");
    // The handler reads its settings with its first call.
    const aborted = { abortSignal: AbortSignal.abort() };
    await client.send(new ListTablesCommand(), aborted).catch(() => {});
    const config = {
      connectionTimeout: 3000,
      requestTimeout: 10_000,
      socketTimeout: 10_000,
      throwOnRequestTimeout: true,
    };
    expect(client.config.requestHandler).toMatchObject({ config });
    expect(await client.config.maxAttempts()).toBe(5);
  });

  test("works in no other account than the environment's own", async () => {
    deployProduction(tables);
    const account = { id: "999999999999", region };
    await expect(findDeployedStack({ ...production, account })).rejects.toThrow(
      `production belongs to account 999999999999, but these credentials are for ${productionAccount}: assume a role in 999999999999 first`,
    );
  });

  test("works as --profile says and, as deployments do, in AWS_DEFAULT_REGION", async () => {
    // The option changes AWS_PROFILE; a stubbed one is put back.
    const variables = { AWS_PROFILE: undefined, AWS_REGION: undefined };
    withEnv({ ...variables, AWS_DEFAULT_REGION: region })();
    // Put together, or the source would seem to hold a secret: see repository/secrets.test.ts.
    const keys = ["aws_access_key_id", "aws_secret_access_key"];
    await writeFile("credentials", `[other]\n${keys.join(" = AKIAOTHER\n")} = other\n`);
    vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", "credentials");
    // The SDK's remark that a later version may prefer the keys of the environment.
    vi.spyOn(console, "warn").mockReturnValue();
    const { sent } = await playWatched`
      $ keys list --env production --profile other
      No keys yet.
      ! production: AWS account ${productionAccount}, region ${region}
      $ keys list --env production --profile nobody
      ! The AWS profile nobody does not exist or has no usable credentials …
      exit 1
    `;
    expect(sent).toMatchObject([signedBy("AKIAOTHER")]);
  });
});

describe("a command that can't find its stack says what to do:", () => {
  const rejecting = (name: string, message: string, domain: string) => () => {
    withEnv({ AWS_ENDPOINT_URL: `https://cloudformation.${domain}` })();
    const cloudFormation = mockClient(CloudFormationClient);
    onTestFinished(() => cloudFormation.restore());
    cloudFormation.rejects(Object.assign(new Error(message), { name }));
  };
  const withProfile = async () => {
    await writeFile("config", "[default]\nendpoint_url = http://127.0.0.1:1\n");
    withEnv({ AWS_CONFIG_FILE: "config" })();
  };
  const foreign = (host: string, reason: string) =>
    `No stack ${production.stackName} at ${host}, which is not AWS (${reason}). ` +
    "Unset AWS_ENDPOINT_URL, or endpoint_url in your profile";

  test.each<[line: string, arrange: () => unknown, name?: keyof typeof environments]>([
    [
      `Stack ${production.stackName} (UPDATE_COMPLETE) has no output ApiKeysTableName. ` +
        "Was it deployed completely?",
      () => deployProduction({ orders: "orders" }),
    ],
    [
      `No stack ${staging.stackName} in region eu-central-1 of this AWS account. ` +
        "Deploy it, or choose another region or account",
      () => deployProduction(tables),
      "staging",
    ],
    // Each has half of what marks a missing stack.
    [
      "AWS denied access: Role x does not exist",
      rejecting("AccessDenied", "Role x does not exist", "amazonaws.com"),
    ],
    ["AWS denied access: x", rejecting("AccessDenied", "x", "amazonaws.com.cn")],
    ["AWS denied access: x", rejecting("AccessDenied", "x", "amazonaws.eu")],
    [
      "Unexpected error: ValidationError: A bad name. …",
      rejecting("ValidationError", "A bad name", "api.aws"),
    ],
    [
      foreign(new URL(dynamodbEndpoint).host, "Unexpected error: …"),
      withEnv({ AWS_ENDPOINT_URL: dynamodbEndpoint }),
    ],
    [
      foreign("127.0.0.1:1", "No whole response from 127.0.0.1:1 (ECONNREFUSED)"),
      withProfile,
    ],
    ["No AWS region. …", withEnv({ AWS_REGION: undefined })],
    [
      "No usable AWS credentials …",
      withEnv({ AWS_ACCESS_KEY_ID: "", AWS_EC2_METADATA_DISABLED: "true" }),
    ],
    [
      "The AWS profile nobody does not exist or has no usable credentials …",
      withEnv({ AWS_ACCESS_KEY_ID: "", AWS_PROFILE: "nobody" }),
    ],
  ])("%s", async (line, arrange, name = "production") => {
    await arrange();
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
    const { account: _, ...unpinned } = environments[name];
    const text = errorText(await findDeployedStack(unpinned).catch((error) => error));
    expect(text).toMatch(new RegExp(`^${RegExp.escape(line).replaceAll("…", ".*")}$`));
    expect(text).not.toContain("secret");
  });
});

describe("a command for the local stack", () => {
  const killed = stackAt("http://127.0.0.1:1", 3);
  const running = [stackAt(dynamodbEndpoint, 2), stackAt(dynamodbEndpoint, 1)];
  const none = "! No local stack is running. Start one with infra/petstore start\nexit 1";
  const found = "No keys yet.\n! local: http://localhost:2/v1";
  const html: Behaviour = ({ response }) => void response.writeHead(501).end("<html>");

  test.each([
    ["uses none", { stacks: [] }, none],
    ["uses none that was killed", { stacks: [killed] }, none],
    ["uses the latest of two", { stacks: running }, found],
    ["uses the latest that still runs", { stacks: [killed, ...running] }, found],
    [
      "uses no other stack if the latest has lost its table",
      { stacks: [{ ...stackAt(dynamodbEndpoint, 3), tables }, ...running] },
      "! The local stack at http://localhost:3/v1 has no table orders. Restart it\nexit 1",
    ],
    [
      "says that its table is gone",
      { calls: () => rejectedAs("ResourceNotFoundException") },
      "! The local stack at http://localhost:1/v1 has no table ORDERS. Restart it\nexit 1",
    ],
    ["uses none if another program has its port", { calls: () => html }, none],
    [
      "uses none if another engine has its port",
      { calls: () => rejectedAs("UnrecognizedClientException") },
      none,
    ],
    [
      "says what is wrong if one runs, but does not respond",
      { calls: () => unapplied["reset before a response"] },
      "! No whole response from the service (ECONNRESET)\nexit 1",
    ],
  ])("%s", async (_, circumstances, text) => {
    await playIn(circumstances)`
    $ keys list
    ${text}
  `;
  });

  test("finds it whatever the shell sets", async () => {
    withEnv({
      AWS_USE_FIPS_ENDPOINT: "true",
      AWS_ENDPOINT_URL: "http://127.0.0.1:1",
      AWS_PROFILE: "nobody",
    })();
    await play`
      $ keys list
      No keys yet.
    `;
  });
});
