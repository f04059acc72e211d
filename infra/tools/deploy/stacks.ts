import { access, constants, readFile } from "node:fs/promises";
import {
  CloudFormationClient,
  DescribeStacksCommand,
  GetTemplateCommand,
  type Output,
  paginateDescribeStackResourceDrifts,
} from "@aws-sdk/client-cloudformation";
import {
  DescribeTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
} from "@aws-sdk/client-dynamodb";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { CloudAssembly } from "aws-cdk-lib/cx-api";
import type { Environment } from "../../environments.ts";
import { clientOptions, requireAccount } from "../terminal/caller.ts";
import { CommandError } from "../terminal/errors.ts";
import type { Template } from "./compare-templates.ts";

/**
 * Reads a stack of a synthesised app, whose directory is usually `cdk.out`.
 *
 * @throws CommandError when the app does not have the stack, or can't be read.
 */
export function readSynthesisedStack(directory: string, stackName: string) {
  try {
    return new CloudAssembly(directory).getStackByName(stackName);
  } catch (cause) {
    const problem = `${directory} has no stack ${stackName}: synthesise it first`;
    throw new CommandError(problem, { cause });
  }
}

/** @throws CommandError when the file is not a template in JSON, and what `access` throws. */
export async function readSavedTemplate(file: string): Promise<Template> {
  await access(file, constants.R_OK);
  try {
    const template = JSON.parse(await readFile(file, "utf8"));
    if (template?.Resources) return template;
  } catch {}
  throw new CommandError(`${file} is not a template in JSON`);
}

/**
 * Finds the account, region and credentials that the caller's variables and profile select.
 *
 * @throws CommandError when the environment is pinned to another account. Also throws what the SDK
 * throws.
 */
export async function findCaller(environment: Environment) {
  const options = clientOptions(environment);
  const client = new STSClient(options);
  // First, because the region may be missing with the profile.
  const credentials = await client.config.credentials();
  const region = await client.config.region();
  const { Account = "unknown" } = await client.send(new GetCallerIdentityCommand());
  requireAccount(environment, Account);
  return { ...options, account: Account, region, credentials };
}

/** As whom, and where, a command works in AWS. */
export type Caller = Awaited<ReturnType<typeof findCaller>>;

/** The statuses of a stack whose first deployment never succeeded: CDK creates it anew. */
const neverDeployed = ["REVIEW_IN_PROGRESS", "ROLLBACK_COMPLETE"];

/** The statuses of a stack that can be updated: what is deployed is then its template. */
const updatable =
  /^(CREATE_COMPLETE|UPDATE_COMPLETE|UPDATE_ROLLBACK_COMPLETE|IMPORT_(ROLLBACK_)?COMPLETE)$/;

/** Advice on a stack in another status. The first pattern that fits counts. */
const waysOut: [status: RegExp, wayOut: string][] = [
  [/_IN_PROGRESS$/, "wait until that has ended"],
  [
    /^(CREATE|UPDATE|UPDATE_ROLLBACK)_FAILED$/,
    "roll it back (infra/ON-CALL.md, A stuck rollback)",
  ],
  [/^(ROLLBACK|DELETE)_FAILED$/, "delete it (infra/README.md, Delete a stack)"],
  [/./, "see its events in the CloudFormation console"],
];

/**
 * Reads the deployed stack. The caller needs `cloudformation:DescribeStacks` and `GetTemplate`, and
 * `dynamodb:DescribeTable`.
 *
 * @returns undefined before the first deployment has succeeded.
 * @throws CommandError when it can't be updated, or one of its tables is missing, and what the SDK
 * throws when a call fails.
 */
export async function readDeployedStack(StackName: string, caller: Caller) {
  const client = new CloudFormationClient(caller);
  try {
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName }));
    const stack = Stacks?.[0];
    const status = String(stack?.StackStatus);
    if (neverDeployed.includes(status)) return undefined;
    if (!updatable.test(status)) {
      const wayOut = waysOut.find(([pattern]) => pattern.test(status))?.[1];
      throw new CommandError(`${StackName} is in ${status}: ${wayOut}`);
    }
    const { TemplateBody } = await client.send(new GetTemplateCommand({ StackName }));
    await requireTables(caller, stack?.Outputs);
    return {
      template: JSON.parse(String(TemplateBody)),
      terminationProtection: stack?.EnableTerminationProtection,
    };
  } catch (error) {
    if (/^ValidationError: .* does not exist$/.test(String(error))) return undefined;
    throw error;
  }
}

/**
 * Checks that the tables exist that a stack's outputs name. CloudFormation may make an empty one in
 * the place of one that is gone, which then can't be restored under its name.
 */
async function requireTables(caller: Caller, outputs: Output[] = []) {
  const client = new DynamoDBClient(caller);
  for (const { OutputKey, OutputValue: TableName } of outputs) {
    if (!OutputKey?.endsWith("TableName")) continue;
    const status = await client.send(new DescribeTableCommand({ TableName })).then(
      ({ Table }) => Table?.TableStatus,
      (error: unknown) => {
        if (error instanceof ResourceNotFoundException) return "missing";
        throw error;
      },
    );
    if (status === "ACTIVE" || status === "UPDATING") continue;
    throw new CommandError(
      `Table ${TableName} is ${status}: restore it first (infra/ON-CALL.md, A deleted table)`,
    );
  }
}

/**
 * Checks that the last look for drift has read a table, the API and an alias: a resource that the
 * caller may not read counts as unchecked, not as drift.
 *
 * @throws CommandError when it has not, and what the SDK throws.
 */
export async function requireDriftChecked(StackName: string, caller: Caller) {
  const client = new CloudFormationClient(caller);
  const pages = paginateDescribeStackResourceDrifts(
    { client },
    { StackName, StackResourceDriftStatusFilters: ["IN_SYNC", "MODIFIED", "DELETED"] },
  );
  const checked = new Set<string | undefined>();
  for await (const { StackResourceDrifts = [] } of pages)
    for (const { ResourceType } of StackResourceDrifts) checked.add(ResourceType);
  for (const type of ["DynamoDB::Table", "ApiGateway::RestApi", "Lambda::Alias"]) {
    if (checked.has(`AWS::${type}`)) continue;
    throw new CommandError(
      `No AWS::${type} was checked for drift: give the role the policies of infra/PERMISSIONS.md, Drift`,
    );
  }
}
