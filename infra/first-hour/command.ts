import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { Command, Option } from "commander";
import { issueApiKey } from "../../shared/api-keys-table.ts";
import { systemClock } from "../../shared/clock.ts";
import { interruption } from "../admin/command.ts";
import { findDeployedStack } from "../admin/target.ts";
import { type Environment, type EnvironmentName, environments } from "../environments.ts";
import { report } from "../smoke/report.ts";
import { canaryCheck, startChecks } from "./bad-versions.ts";
import { gateway, smokeTest } from "./gateway.ts";
import { lists } from "./lists.ts";
import { logs } from "./logs.ts";
import { type Checks, runChecks } from "./run-checks.ts";
import { readStack } from "./stage.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const start = startChecks(root);
const parts: Record<string, Checks> = { smoke: smokeTest, gateway, lists, start, logs, canary: canaryCheck(root) };
const usualParts = Object.keys(parts).filter((name) => name !== "canary");
const warning = `It sends some thousand requests, deploys code that throws, and takes permissions away: for minutes,
requests fail. What it changes it puts back, after Ctrl-C too. Go on? [y/N] `;

type Options = { env: EnvironmentName; part: string[]; yes?: true; despiteData?: true };

/** The command behind `npm run first-hour`. Wrong use prints one line and exits with 2. */
export function createFirstHourCommand(): Command {
  return new Command("npm run first-hour --")
    .description("Check what only AWS itself can answer, on a deployed environment.")
    .addOption(new Option("--env <name>").choices(Object.keys(environments)).makeOptionMandatory())
    .addOption(new Option("--part <names...>").choices(Object.keys(parts)).default(usualParts))
    .option("--yes", "don't ask first")
    .option("--despite-data", "even if the environment keeps its data")
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .action(run);
}

async function run({ env, part, yes, despiteData }: Options, command: Command): Promise<void> {
  const environment: Environment = environments[env];
  if (environment.keepData && !despiteData) command.error(`${env} keeps its data, and this breaks things.`);
  if (!yes && !process.stdin.isTTY) command.error("There is no terminal to ask on: decide with --yes.");
  const target = await findDeployedStack(environment);
  console.log(`First hour of ${target.description}`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  if (!yes && (await terminal.question(warning)) !== "y") command.error("Nothing was done.");
  terminal.close();

  const now = Math.floor(Date.now() / 1000);
  const life = { name: "first hour", createdAt: now, expiresAt: now + 4 * 3600 };
  const keys = DynamoDBDocumentClient.from(target.client);
  const { key: apiKey } = await issueApiKey(keys, target.apiKeysTable, environment.apiKeyPrefix, life);
  const stack = await readStack(environment.stackName);
  const stage = { ...target, ...stack, apiKey, clock: systemClock, interrupted: interruption(), changes: [] };
  const checks: Checks = Object.assign({}, ...part.map((name) => parts[name]));
  await report(runChecks(checks, stage));
}
