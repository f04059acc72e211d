import { access, constants, readFile } from "node:fs/promises";
import { join } from "node:path";
import { getSystemErrorMessage } from "node:util";
import {
  CloudFormationClient,
  DescribeStacksCommand,
  GetTemplateCommand,
} from "@aws-sdk/client-cloudformation";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import type { Environment } from "../environments.ts";
import { CommandError } from "../terminal/errors.ts";
import type { Place, Template } from "./template.ts";

/** A stack as it is deployed, or as it is about to be. */
export interface StackToCompare {
  template: Template;
  /** No template says it. */
  terminationProtection?: boolean;
}

/** A stack of a synthesised app. */
export interface AssemblyStack extends StackToCompare {
  /** The warnings of CDK and of the rules. */
  warnings: string[];
}

/**
 * Reads a stack of a synthesised app, whose directory is usually `cdk.out`.
 *
 * @throws CommandError when it does not have the stack or can't be read.
 */
export async function readAssembly(directory: string, stackName: string): Promise<AssemblyStack> {
  const missing = new CommandError(`${directory} has no stack ${stackName}: synthesise it first`);
  const manifest = await readJson(join(directory, "manifest.json"), missing);
  const { properties, additionalMetadataFile } = manifest.artifacts?.[stackName] ?? {};
  if (!properties) throw missing;
  const template = await readTemplate(join(directory, properties.templateFile));
  const metadata: Record<string, { type: string; data: unknown }[]> = additionalMetadataFile
    ? await readJson(join(directory, additionalMetadataFile), missing)
    : {};
  const warnings = Object.values(metadata)
    .flat()
    .filter(({ type }) => type === "aws:cdk:warning")
    .map(({ data }) => String(data).replace(/ \[ack: .*\]$/, ""));
  return { template, terminationProtection: properties.terminationProtection === true, warnings };
}

/** @throws CommandError when the file can't be read, or is not a template in JSON. */
export async function readTemplate(file: string): Promise<Template> {
  await access(file, constants.R_OK).catch(({ errno }: NodeJS.ErrnoException) => {
    throw new CommandError(`${file}: ${getSystemErrorMessage(errno ?? 0)}`);
  });
  const wrong = new CommandError(`${file} is not a template in JSON`);
  const template = await readJson(file, wrong);
  if (!template?.Resources) throw wrong;
  return template;
}

async function readJson(file: string, wrong: CommandError) {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    throw wrong;
  }
}

/**
 * Finds out where the caller's credentials and settings lead to.
 *
 * @throws CommandError when that is another account than the environment is pinned to (CDK would
 * assume the target's roles, while what is asked here is asked in the caller's account), and what
 * the SDK throws when it can't ask.
 */
export async function findPlace({ name, account: pinned }: Environment): Promise<Place> {
  const client = new STSClient(pinned ? { region: pinned.region } : {});
  const region = await client.config.region();
  const { Account: account = "" } = await client.send(new GetCallerIdentityCommand());
  if (pinned && account !== pinned.id) {
    throw new CommandError(
      `${name} belongs to account ${pinned.id}, but these credentials are of account ${account}: ` +
        "assume a role in the target account first",
    );
  }
  return { account, region };
}

/**
 * Reads what is deployed, with the caller's own credentials: `cloudformation:DescribeStacks` and
 * `GetTemplate`.
 *
 * @returns undefined before the first deployment has succeeded.
 * @throws what the SDK throws when it can't ask.
 */
export async function readDeployedStack(
  stackName: string,
  { region }: Place,
): Promise<StackToCompare | undefined> {
  const client = new CloudFormationClient({ region });
  try {
    const { Stacks: [stack] = [] } = await client.send(
      new DescribeStacksCommand({ StackName: stackName }),
    );
    // CDK starts these over.
    if (/^(REVIEW_IN_PROGRESS|ROLLBACK_COMPLETE)$/.test(stack?.StackStatus ?? "")) return undefined;
    const { TemplateBody = "" } = await client.send(
      new GetTemplateCommand({ StackName: stackName }),
    );
    return {
      template: JSON.parse(TemplateBody),
      terminationProtection: stack?.EnableTerminationProtection === true,
    };
  } catch (error) {
    if (error instanceof Error && / does not exist$/.test(error.message)) return undefined;
    throw error;
  }
}
