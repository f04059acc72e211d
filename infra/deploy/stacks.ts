import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Resource } from "@aws-cdk/cloudformation-diff";
import {
  CloudFormationClient,
  DescribeStacksCommand,
  GetTemplateCommand,
} from "@aws-sdk/client-cloudformation";
import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Environment } from "../environments.ts";

/** The parts of a CloudFormation template that are compared. */
export interface Template {
  Resources: Record<string, Resource>;
  Outputs?: Record<string, { Value: unknown }>;
}

/** A stack as it is deployed, or as it is about to be. */
export interface StackToCompare {
  template: Template;
  /** No template says it. */
  terminationProtection?: boolean;
}

/**
 * Reads a stack of a synthesised app, whose directory is usually `cdk.out`.
 *
 * @throws Error when it does not have the stack or can't be read.
 */
export async function readAssembly(directory: string, stackName: string): Promise<StackToCompare> {
  const { artifacts } = JSON.parse(await readFile(join(directory, "manifest.json"), "utf8"));
  const properties = artifacts?.[stackName]?.properties;
  if (!properties) throw new Error(`${directory} has no stack ${stackName}`);
  const template = await readTemplate(join(directory, properties.templateFile));
  return { template, terminationProtection: properties.terminationProtection === true };
}

/** @throws Error when the file is not a template in JSON. */
export async function readTemplate(file: string): Promise<Template> {
  const text = await readFile(file, "utf8");
  try {
    const template = JSON.parse(text);
    if (template?.Resources) return template;
  } catch {
    // The same line says so, and names the file.
  }
  throw new Error(`${file} is not a template in JSON`);
}

/**
 * Reads what is deployed, with the caller's own credentials: `cloudformation:DescribeStacks` and
 * `GetTemplate`.
 *
 * @returns undefined before the first deployment has succeeded.
 * @throws what the SDK throws when it can't ask.
 */
export async function readDeployedStack({
  stackName,
  account,
}: Environment): Promise<StackToCompare | undefined> {
  const client = new CloudFormationClient(account ? { region: account.region } : {});
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

/**
 * Looks up the tables that a deployment is to adopt by their names, with `dynamodb:DescribeTable`.
 * CloudFormation would make an empty one for a name that is misspelt.
 *
 * @throws Error naming the first table that does not exist, and what the SDK throws when it can't
 * ask.
 */
export async function requireAdoptedTables(
  { account }: Environment,
  deployed: Template | undefined,
  next: Template,
) {
  const client = new DynamoDBClient(account ? { region: account.region } : {});
  for (const [id, { Type, Properties }] of Object.entries(next.Resources)) {
    const name: unknown =
      Type === "AWS::DynamoDB::Table" && !deployed?.Resources[id] && Properties?.["TableName"];
    if (typeof name !== "string") continue;
    await client.send(new DescribeTableCommand({ TableName: name })).catch((error: Error) => {
      const isMissing = error.name === "ResourceNotFoundException";
      throw isMissing
        ? new Error(`There is no table ${name}: the stack would make an empty one`)
        : error;
    });
  }
}
