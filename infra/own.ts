import type { ServiceStack } from "./stack/service-stack.ts";

/**
 * Adds parts of your own to the stack of each environment, such as a table, a web ACL or an alarm.
 * Synthesis stops for a rule of cdk-nag that they break, until you say why they may:
 *
 *     import { Bucket } from "aws-cdk-lib/aws-s3";
 *     import { Validations } from "aws-cdk-lib/core";
 *
 *     const exports = new Bucket(stack, "Exports", { enforceSSL: true });
 *     const reason = "Only one job reads it, and CloudTrail logs that";
 *     Validations.of(exports).acknowledge({ id: "AwsSolutions-S1", reason });
 *
 * Newer versions of the service leave this file alone.
 */
export function addOwnParts(_stack: ServiceStack): void {}
