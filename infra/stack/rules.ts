import { CfnGlobalTable, CfnTable } from "aws-cdk-lib/aws-dynamodb";
import { CfnWebACLAssociation } from "aws-cdk-lib/aws-wafv2";
import { Annotations, CfnDeletionPolicy, type Stack } from "aws-cdk-lib/core";
import type { Environment } from "./settings.ts";

/**
 * Makes synthesis fail for a table that isn't protected, and warn of what production needs and a
 * company has to choose. Call it once a team's own parts are in the stack.
 */
export function addRules(stack: Stack, environment: Environment) {
  const { alarms, keepData, listConcurrency, stackName } = environment;
  if (keepData) stack.node.addValidation({ validate: () => unprotected(stack) });
  const hasWebAcl = stack.node
    .findAll()
    .some((part) => part instanceof CfnWebACLAssociation);
  const warnings = {
    listConcurrency:
      keepData &&
      listConcurrency === undefined &&
      "Slow readers of lists can use up the account's concurrency: set listConcurrency",
    webAclArn:
      keepData &&
      !hasWebAcl &&
      "Requests without a key can use up the clients' rate limits: set webAclArn, or associate " +
        "a web ACL in own.ts",
    alarms:
      alarms &&
      !alarms.email &&
      !alarms.topicArn &&
      "The alarms notify no one: set alarms.email or alarms.topicArn",
    stackName:
      stackName.length > 25 &&
      "CloudFormation shortens stackName in the names of functions and roles, which have at most " +
        `64 letters: write policies for ${stackName.slice(0, 24)}* instead of ${stackName}-*`,
  };
  for (const [id, text] of Object.entries(warnings))
    if (text) Annotations.of(stack).addWarningV2(`pet-store-orders:${id}`, text);
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
