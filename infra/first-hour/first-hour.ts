// `npm run first-hour`. Wrong use prints one line and exits with 2.
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import { CloudFormation, paginateListStackResources } from "@aws-sdk/client-cloudformation";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { Command, Option } from "commander";
import { issueApiKey } from "../../shared/api-keys-table.ts";
import { systemClock } from "../../shared/clock.ts";
import { interruption } from "../admin/command.ts";
import { findDeployedStack } from "../admin/target.ts";
import { type Environment, type EnvironmentName, environments } from "../environments.ts";
import { report } from "../smoke/smoke-test.ts";
import { errorLine } from "../terminal/errors.ts";
import { canary, start } from "./bad-versions.ts";
import { gateway, smokeTest } from "./gateway.ts";
import { lists } from "./lists.ts";
import { logs } from "./logs.ts";
import { type Checks, runChecks } from "./stage.ts";

const parts: Record<string, Checks> = { smoke: smokeTest, gateway, lists, start, logs, canary };
const usualParts = Object.keys(parts).filter((name) => name !== "canary");
const warning = `It sends some thousand requests, deploys code that throws, and takes permissions
away: for minutes, requests fail. What it changes it puts back, after Ctrl-C too. Go on? [y/N] `;

const command = new Command("npm run first-hour --")
  .description("Check what only AWS itself can answer, on a deployed environment.")
  .addOption(new Option("--env <name>").choices(Object.keys(environments)).makeOptionMandatory())
  .addOption(new Option("--part <names...>").choices(Object.keys(parts)).default(usualParts))
  .option("--yes", "don't ask first")
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse();
const { env, part, yes } = command.opts<{ env: EnvironmentName; part: string[]; yes?: true }>();
const environment: Environment = environments[env];
if (environment.keepData) command.error(`${env} keeps its data, and this breaks things.`);
if (!yes && !process.stdin.isTTY)
  command.error("There is no terminal to ask on: decide with --yes.");
// Every client below, and every deployment, asks the region that the environment is pinned to.
if (environment.account) process.env["AWS_REGION"] = environment.account.region;
await run().catch((error: unknown) => {
  process.stderr.write(`${errorLine(error)}\n`);
  process.exitCode = 1;
});
// What was interrupted may still be going on.
process.exit();

async function run(): Promise<void> {
  const target = await findDeployedStack(environment);
  console.log(`First hour of ${target.description}`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  if (!yes && (await terminal.question(warning)) !== "y") command.error("Nothing was done.");
  terminal.close();

  const createdAt = Math.floor(Date.now() / 1000);
  const life = { name: "first hour", createdAt, expiresAt: createdAt + 4 * 3600 };
  const keys = DynamoDBDocumentClient.from(target.client);
  const { key: apiKey } = await issueApiKey(
    keys,
    target.apiKeysTable,
    environment.apiKeyPrefix,
    life,
  );
  const client = new CloudFormation();
  const search = { StackName: environment.stackName };
  const { Stacks: [stack] = [] } = await client.describeStacks(search);
  const pages = await Array.fromAsync(paginateListStackResources({ client }, search));
  const checks: Checks = Object.assign({}, ...part.map((name) => parts[name]));
  const stage = {
    ...target,
    apiKey,
    baseUrl: stack?.Outputs?.find(({ OutputKey }) => OutputKey === "BaseUrl")?.OutputValue ?? "",
    resources: pages.flatMap(({ StackResourceSummaries = [] }) => StackResourceSummaries),
    root: fileURLToPath(new URL("../..", import.meta.url)),
    lender: Object.values<Environment>(environments).find(
      ({ name, alarms }) => alarms && name !== env,
    )?.name,
    clock: systemClock,
    interrupted: interruption(),
    changes: [],
  };
  await report(runChecks(checks, stage));
}
