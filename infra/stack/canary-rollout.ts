import type { Alarm } from "aws-cdk-lib/aws-cloudwatch";
import {
  LambdaApplication,
  LambdaDeploymentConfig,
  LambdaDeploymentGroup,
} from "aws-cdk-lib/aws-codedeploy";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnAlias } from "aws-cdk-lib/aws-lambda";
import { type Stack, Validations } from "aws-cdk-lib/core";
import { Construct } from "constructs";
import { type PerFunction, perFunction } from "./function-list.ts";
import type { ServiceFunctions } from "./service-function.ts";

/**
 * Sends a tenth of the requests to new code for ten minutes, then all of them. Only code rolls out
 * like this: changes to the gateway take effect at once. The alarms of a function stop it and roll
 * it back.
 *
 * @param canary if false, new code goes live at once. The rest is made anyway: a role that is made
 * moments before CodeDeploy needs it may not work yet.
 */
export function addCanaryRollout(
  stack: Stack,
  functions: ServiceFunctions,
  alarms: PerFunction<Alarm[]>,
  canary: boolean,
) {
  const scope = new Construct(stack, "Rollout");
  const application = new LambdaApplication(scope, "Application");
  const role = new Role(scope, "Role", {
    assumedBy: new ServicePrincipal("codedeploy.amazonaws.com"),
  });
  perFunction((name, { id: groupId }) => {
    const { alias } = functions[name];
    new LambdaDeploymentGroup(scope, groupId, {
      application,
      alias,
      alarms: alarms[name],
      role,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
    });
    if (!canary) delete (alias.node.defaultChild as CfnAlias).cfnOptions.updatePolicy;
  });
  Validations.of(role).acknowledge({
    id:
      "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/" +
      "service-role/AWSCodeDeployRoleForLambdaLimited]",
    reason:
      "AWS maintains this policy, and CDK attaches it to every deployment group's role",
  });
}

/**
 * Makes CloudFormation set every alias of the stack, at once. Otherwise it only updates what differs
 * from the last template, and leaves an alias where someone has moved it by hand. The next
 * deployment brings a canary back: the alias then says so, and the comparison goes by it.
 */
export function setEveryAlias(stack: Stack) {
  for (const construct of stack.node.findAll()) {
    if (!(construct instanceof CfnAlias)) continue;
    const start = construct.cfnOptions.updatePolicy ? "Set without a canary" : "Set";
    construct.description = `${start} at ${new Date().toISOString()}`;
    delete construct.cfnOptions.updatePolicy;
  }
}
