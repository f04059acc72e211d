import { access, constants, readFile } from "node:fs/promises";
import { join } from "node:path";
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
  /** CloudFormation keeps it beside the template. Undefined for a saved template. */
  terminationProtection?: boolean;
}

/** A stack as it is deployed. */
interface DeployedStack extends StackToCompare {
  /** The names of the service's tables. */
  tables: string[];
}

/** A stack of a synthesised app. */
export interface AssemblyStack extends StackToCompare {
  /** The warnings of CDK and cdk-nag, without the hint on how to acknowledge them. */
  warnings: string[];
}

/** The parts of CDK's `manifest.json` that are read. */
interface Manifest {
  artifacts?: Record<string, Artifact>;
}
interface Artifact {
  properties?: { templateFile: string; terminationProtection?: boolean };
  additionalMetadataFile?: string;
}

/**
 * Reads a stack of a synthesised app, whose directory is usually `cdk.out`.
 *
 * @throws CommandError when the app does not have the stack, or can't be read.
 */
export async function readAssembly(directory: string, stackName: string): Promise<AssemblyStack> {
  const problem = `${directory} has no stack ${stackName}: synthesise it first`;
  const manifest: Manifest = await readJson(join(directory, "manifest.json"), problem);
  const { properties, additionalMetadataFile } = manifest.artifacts?.[stackName] ?? {};
  if (!properties) throw new CommandError(problem);
  return {
    template: await readTemplate(join(directory, properties.templateFile)),
    terminationProtection: properties.terminationProtection === true,
    warnings: additionalMetadataFile
      ? await readWarnings(join(directory, additionalMetadataFile))
      : [],
  };
}

async function readWarnings(file: string): Promise<string[]> {
  const problem = `${file} can't be read: synthesise the app again`;
  const metadata: Record<string, { type: string; data: unknown }[]> = await readJson(file, problem);
  return Object.values(metadata)
    .flat()
    .filter(({ type }) => type === "aws:cdk:warning")
    .map(({ data }) => String(data).replace(/ \[ack: .*\]$/, ""));
}

/** @throws CommandError when the file is not a template in JSON, and what `access` throws. */
export async function readTemplate(file: string): Promise<Template> {
  await access(file, constants.R_OK);
  const problem = `${file} is not a template in JSON`;
  const template: Template | null = await readJson(file, problem);
  if (!template?.Resources) throw new CommandError(problem);
  return template;
}

async function readJson(file: string, problem: string) {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (cause) {
    throw new CommandError(problem, { cause });
  }
}

/**
 * Finds the account and region that the caller's credentials and settings select.
 *
 * @throws CommandError when the environment is pinned to another account: CDK would deploy to that
 * one, but the comparison would read the caller's. Also throws what the SDK throws.
 */
export async function findPlace({ name, account: pinned }: Environment): Promise<Place> {
  const client = new STSClient(pinned ? { region: pinned.region } : {});
  const region = await client.config.region();
  const { Account: account = "unknown" } = await client.send(new GetCallerIdentityCommand());
  if (pinned && account !== pinned.id) {
    throw new CommandError(
      `${name} belongs to account ${pinned.id}, but these credentials are for ${account}: ` +
        `assume a role in ${pinned.id} first`,
    );
  }
  return { account, region };
}

/** The statuses of a stack whose first deployment never succeeded: CDK creates it anew. */
const neverDeployed = ["REVIEW_IN_PROGRESS", "ROLLBACK_COMPLETE"];

/**
 * Reads the deployed stack. The caller needs `cloudformation:DescribeStacks` and `GetTemplate`.
 *
 * @returns undefined before the first deployment has succeeded.
 * @throws what the SDK throws when a call fails.
 */
export async function readDeployedStack(
  stackName: string,
  { region }: Place,
): Promise<DeployedStack | undefined> {
  const client = new CloudFormationClient({ region });
  try {
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: stackName }));
    const stack = Stacks?.[0];
    if (neverDeployed.includes(String(stack?.StackStatus))) return undefined;
    const { TemplateBody } = await client.send(new GetTemplateCommand({ StackName: stackName }));
    if (TemplateBody === undefined) throw new CommandError(`Stack ${stackName} has no template`);
    return {
      template: JSON.parse(TemplateBody),
      terminationProtection: stack?.EnableTerminationProtection === true,
      tables: (stack?.Outputs ?? []).flatMap(({ OutputKey, OutputValue }) =>
        OutputKey?.endsWith("TableName") && OutputValue ? [OutputValue] : [],
      ),
    };
  } catch (error) {
    if (error instanceof Error && / does not exist$/.test(error.message)) return undefined;
    throw error;
  }
}
