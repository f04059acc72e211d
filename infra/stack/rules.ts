import { CfnGlobalTable, CfnTable } from "aws-cdk-lib/aws-dynamodb";
import { CfnPolicy, CfnRole } from "aws-cdk-lib/aws-iam";
import { CfnKey } from "aws-cdk-lib/aws-kms";
import type { CfnFunction } from "aws-cdk-lib/aws-lambda";
import { CfnLogGroup } from "aws-cdk-lib/aws-logs";
import { CfnWebACLAssociation } from "aws-cdk-lib/aws-wafv2";
import {
  Annotations,
  CfnDeletionPolicy,
  type CfnResource,
  type Stack,
} from "aws-cdk-lib/core";
import type { IConstruct } from "constructs";
import { perFunction } from "./function-list.ts";
import type { OrdersStack } from "./orders-stack.ts";
import type { Environment } from "./settings.ts";

/**
 * Makes synthesis fail for a table that isn't protected, and warn of what production needs and a
 * company has to choose.
 */
export function addRules(stack: OrdersStack, environment: Environment) {
  stack.node.addValidation({
    // Only now is the stack as it will be: a team's own Aspects have changed it, too.
    validate() {
      addWarnings(stack, environment);
      return environment.keepData ? unprotected(stack) : [];
    },
  });
}

function addWarnings(stack: OrdersStack, environment: Environment) {
  const { alarms, keepData, listConcurrency, stackName } = environment;
  const hasWebAcl = stack.node
    .findAll()
    .some((part) => part instanceof CfnWebACLAssociation);
  const where = "in infra/environments.ts";
  const warnings = {
    listConcurrency:
      keepData &&
      listConcurrency === undefined &&
      `Slow readers of lists can use up the account's concurrency: set listConcurrency ${where}`,
    webAclArn:
      keepData &&
      !hasWebAcl &&
      `Requests without a key can use up the clients' rate limits: set webAclArn ${where}, or ` +
        "associate a web ACL in infra/own.ts",
    alarms:
      alarms &&
      !alarms.email &&
      !alarms.topicArn &&
      `The alarms notify no one: set alarms.email or alarms.topicArn ${where}`,
    stackName:
      stackName.length > 25 &&
      "CloudFormation shortens stackName in the names of functions and roles, which have at most " +
        `64 letters: write policies for ${stackName.slice(0, 24)}* instead of ${stackName}-*`,
    ...missingGrants(stack),
  };
  for (const [id, text] of Object.entries(warnings))
    if (text) Annotations.of(stack).addWarningV2(`pet-store-orders:${id}`, text);
}

/** Warnings, by id, of grants that a team's own parts need and no policy seems to give. */
function missingGrants(stack: OrdersStack) {
  const tables = { orders: stack.ordersTable, apiKeys: stack.apiKeysTable };
  const missing: Record<string, string> = {};
  const require = (id: string, { node }: IConstruct, grant: RegExp, need: string) => {
    const grants = JSON.stringify(stack.resolve(node.findAll().map(grantsOf)));
    if (!grant.test(grants)) missing[id] = `${need}: see infra/MAKE-IT-YOURS.md`;
  };
  const hasKey = ({ node }: IConstruct) =>
    propertiesOf(node.defaultChild as CfnTable).SSESpecification?.KMSMasterKeyId;
  const needsKey = "may not use the table's key";
  for (const account of hasKey(tables.orders) ? stack.writerAccounts : [])
    require(`key:${account}`, stack, new RegExp(account), `${account} ${needsKey}`);
  perFunction((name, { id, table }) => {
    const { node, role = stack } = stack.functions[name];
    if (hasKey(tables[table]))
      require(`key:${id}`, role, /"kms:(?:Decrypt|\*)"/, `${id} ${needsKey}`);
    if (propertiesOf(node.defaultChild as CfnFunction).VpcConfig)
      require(`vpc:${id}`, role, /"ec2:|VPCAccess/, `${id} may not connect to its VPC`);
  });
  const logs = stack.node.findAll().filter((part) => part instanceof CfnLogGroup);
  if (logs.some((log) => propertiesOf(log).KmsKeyId))
    require("key:logs", stack, /"logs\./, "CloudWatch Logs may not use the key of a log");
  return missing;
}

/** The properties of a resource in the template, overrides included. */
function propertiesOf(part: CfnResource) {
  const { Resources: resources } = part.stack.resolve(part._toCloudFormation());
  return resources[part.stack.resolve(part.logicalId)].Properties ?? {};
}

/** The grants of a policy, a role or a key. */
function grantsOf(part: IConstruct) {
  if (part instanceof CfnPolicy) return part.policyDocument;
  if (part instanceof CfnRole) return part.managedPolicyArns;
  return part instanceof CfnKey ? part.keyPolicy : undefined;
}

/**
 * A line for each table, a team's own included, that could be deleted with the stack, or could not
 * be restored.
 */
function unprotected(stack: Stack) {
  const lines = stack.terminationProtection
    ? []
    : ["keepData needs terminationProtection"];
  for (const part of stack.node.findAll()) {
    const isTable = part instanceof CfnTable || part instanceof CfnGlobalTable;
    if (isTable && !isProtected(part)) {
      lines.push(
        `keepData: ${part.node.path} needs removal policy RETAIN, deletion protection and ` +
          "point-in-time recovery",
      );
    }
  }
  return lines;
}

function isProtected(table: CfnTable | CfnGlobalTable) {
  const { cfnOptions, stack } = table;
  const replicas: Partial<CfnTable>[] =
    table instanceof CfnTable ? [table] : stack.resolve(table.replicas);
  return (
    cfnOptions.deletionPolicy === CfnDeletionPolicy.RETAIN &&
    cfnOptions.updateReplacePolicy === CfnDeletionPolicy.RETAIN &&
    replicas.every(
      ({ deletionProtectionEnabled, pointInTimeRecoverySpecification: recovery }) =>
        deletionProtectionEnabled === true &&
        stack.resolve(recovery)?.pointInTimeRecoveryEnabled === true,
    )
  );
}
