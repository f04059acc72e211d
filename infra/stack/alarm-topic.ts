import { Aws } from "aws-cdk-lib";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import type { Construct } from "constructs";

/**
 * The topic that alarms are sent to. Not encrypted with a key of ours: that costs money while idle, and the text of an
 * alarm isn't secret.
 */
export class AlarmTopic extends Topic {
  constructor(scope: Construct, id: string, email: string | undefined) {
    super(scope, id, { enforceSSL: true });
    // A topic with its own policy loses the default one, which lets CloudWatch publish.
    this.grantPublish(
      new ServicePrincipal("cloudwatch.amazonaws.com", {
        conditions: { StringEquals: { "aws:SourceAccount": Aws.ACCOUNT_ID } },
      }),
    );
    if (email !== undefined) this.addSubscription(new EmailSubscription(email));
  }
}
