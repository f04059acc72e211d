import { Validations } from "aws-cdk-lib";
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from "aws-cdk-lib/aws-codedeploy";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import type { Alarms } from "./alarms.ts";
import type { ServiceFunction } from "./service-function.ts";

export interface CanaryRolloutProps {
  functions: ServiceFunction[];
  alarms: Alarms;
}

/**
 * New code gets a tenth of the calls for ten minutes before it gets all. It holds for code alone: what the gateway
 * itself does changes at once.
 */
export class CanaryRollout extends Construct {
  constructor(scope: Construct, id: string, { functions, alarms }: CanaryRolloutProps) {
    super(scope, id);
    const application = new LambdaApplication(this, "Application");
    const role = new Role(this, "Role", { assumedBy: new ServicePrincipal("codedeploy.amazonaws.com") });
    for (const lambda of functions) {
      new LambdaDeploymentGroup(this, lambda.node.id, {
        application,
        alias: lambda.alias,
        alarms: alarms.about(lambda),
        role,
        deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
      });
    }
    Validations.of(role).acknowledge({
      id: "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]",
      reason:
        "The policy AWS keeps for CodeDeploy's work on functions; CDK attaches it to every deployment group's role",
    });
  }
}
