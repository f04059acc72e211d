import { CfnAlias } from "aws-cdk-lib/aws-lambda";
import type { App, Stack } from "aws-cdk-lib/core";
import { CommandError } from "../terminal/errors.ts";

/**
 * Whether this deployment goes live at once, whatever the settings say:
 * `cdk deploy -c canary=false`. Meant for a rollback, and for a fix while an alarm is on, when
 * CodeDeploy starts no deployment.
 *
 * @throws CommandError when the context value `canary` is neither true nor false.
 */
export function skipsCanary(app: App): boolean {
  const canary: unknown = app.node.tryGetContext("canary") ?? "true";
  if (!["true", "false"].includes(String(canary)))
    throw new CommandError(`canary must be true or false, not ${canary}`);
  return String(canary) === "false";
}

/**
 * Makes CloudFormation set every alias of the stack. It only updates what differs from the last
 * template, so it would leave an alias that was moved by hand where it is.
 *
 * @param hasCanary whether the stack's settings have one, which the next deployment brings back:
 * the alias then says so, and the comparison goes by it.
 */
export function setEveryAlias(stack: Stack, hasCanary: boolean): void {
  const start = hasCanary ? "Set without a canary" : "Set";
  for (const construct of stack.node.findAll()) {
    if (construct instanceof CfnAlias) {
      construct.description = `${start} at ${new Date().toISOString()}`;
    }
  }
}
