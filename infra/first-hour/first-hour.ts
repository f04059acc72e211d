// `npm run first-hour`. Wrong use prints one line and exits with 2.
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import { CloudFormation, paginateListStackResources } from "@aws-sdk/client-cloudformation";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { Command, Option } from "commander";
import { makeApiKey } from "../../shared/api-keys.ts";
import { issueApiKey } from "../../shared/api-keys-table.ts";
import { systemClock } from "../../shared/clock.ts";
import { interruption } from "../admin/command.ts";
import { findDeployedStack, type Target } from "../admin/target.ts";
import { type Environment, type EnvironmentName, environments } from "../environments.ts";
import { report } from "../smoke/smoke-test.ts";
import { CommandError, errorLine } from "../terminal/errors.ts";
import { canaryChecks, startChecks } from "./bad-versions.ts";
import { gatewayChecks, smokeTest } from "./gateway.ts";
import { listChecks } from "./lists.ts";
import { logChecks } from "./logs.ts";
import { type Checks, runChecks } from "./run-checks.ts";

const checksByPart: Record<string, Checks> = {
  smoke: smokeTest,
  gateway: gatewayChecks,
  lists: listChecks,
  start: startChecks,
  logs: logChecks,
  canary: canaryChecks,
};
const partNames = Object.keys(checksByPart);
// The canary takes up to an hour.
const defaultParts = partNames.filter((name) => name !== "canary");
const question = `This sends thousands of requests, deploys code that throws and takes permissions
away, so requests fail for minutes. It undoes its changes, also after Ctrl-C. Go on? [y/N] `;

const command = new Command("npm run first-hour --")
  .description("Check what only AWS itself can answer, on a deployed environment.")
  .addOption(new Option("--env <name>").choices(Object.keys(environments)).makeOptionMandatory())
  .addOption(new Option("--part <names...>").choices(partNames).default(defaultParts))
  .option("--yes", "don't ask first")
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse();
type Options = { env: EnvironmentName; part: string[]; yes?: true };
const { env, part: parts, yes } = command.opts<Options>();
const environment: Environment = environments[env];
if (environment.keepData) command.error(`${env} keeps its data, and first-hour breaks things.`);
if (!yes && !process.stdin.isTTY)
  command.error("There is no terminal to ask on. Pass --yes to go on without asking.");
// Every client below, and every deployment, uses the region that the environment is pinned to.
if (environment.account) process.env["AWS_REGION"] = environment.account.region;
await run().catch((error: unknown) => {
  process.stderr.write(`${errorLine(error)}\n`);
  process.exitCode = 1;
});
// An interrupted check may still be running.
process.exit();

async function run(): Promise<void> {
  const target = await findDeployedStack(environment);
  console.log(`First hour of ${target.description}`);
  if (!yes) await confirm();
  const checks: Checks = Object.assign({}, ...parts.map((name) => checksByPart[name]));
  await report(runChecks(checks, await prepare(target)));
}

async function confirm(): Promise<void> {
  using terminal = createInterface({ input: process.stdin, output: process.stdout });
  if ((await terminal.question(question)) !== "y") command.error("Nothing was done.");
}

/** Reads the stack, and issues a key for the checks. */
async function prepare(target: Target) {
  const client = new CloudFormation();
  const stack = { StackName: environment.stackName };
  const { Stacks } = await client.describeStacks(stack);
  const output = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === "BaseUrl");
  const baseUrl = output?.OutputValue;
  if (baseUrl === undefined)
    throw new CommandError(`Stack ${environment.stackName} has no output BaseUrl`);
  const pages = await Array.fromAsync(paginateListStackResources({ client }, stack));
  return {
    ...target,
    baseUrl,
    apiKey: await issueKey(target),
    resources: pages.flatMap(({ StackResourceSummaries = [] }) => StackResourceSummaries),
    root: fileURLToPath(new URL("../..", import.meta.url)),
    alarmsOf: otherEnvironmentWithAlarms(),
    clock: systemClock,
    interrupted: interruption(),
    changes: [],
  };
}

/** Issues a key that expires by itself. */
async function issueKey({ client, apiKeysTable }: Target): Promise<string> {
  const createdAt = Math.floor(Date.now() / 1000);
  const fields = { name: "first hour", createdAt, expiresAt: createdAt + 4 * 3600 };
  const documents = DynamoDBDocumentClient.from(client);
  const key = makeApiKey(environment.apiKeyPrefix);
  await issueApiKey(documents, apiKeysTable, key, fields);
  return key;
}

function otherEnvironmentWithAlarms(): string | undefined {
  const others = Object.values<Environment>(environments).filter(({ name }) => name !== env);
  return others.find(({ alarms }) => alarms)?.name;
}
