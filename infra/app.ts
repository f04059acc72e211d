import { App, Validations } from "aws-cdk-lib/core";
import { AwsSolutionsChecks } from "cdk-nag";
import { environments } from "./environments.ts";
import { addOwnParts } from "./own.ts";
import { OrdersStack } from "./stack/orders-stack.ts";
import { requireValid } from "./stack/require-valid.ts";
import type { ServiceStack } from "./stack/service-stack.ts";
import type { AlarmSettings, Environment } from "./stack/settings.ts";
import { setEveryAlias, skipsCanary } from "./stack/without-canary.ts";
import { CommandError, synthesiseOrExplain } from "./terminal/errors.ts";

if (import.meta.main) synthesiseOrExplain(() => createOrdersApp(environments, addOwnParts));

/**
 * Creates the CDK app with a stack for each environment, and cdk-nag's rules for all of them.
 *
 * @param addParts adds a team's own parts to each stack.
 * @throws CommandError when a setting or a context value is wrong.
 */
export function createOrdersApp(
  entries: Record<string, Environment>,
  addParts: (stack: ServiceStack) => void = () => {},
): App {
  requireValid(entries);
  const app = new App();
  const atOnce = skipsCanary(app);
  // In the first hour, an environment borrows the alarms and the canary of another one:
  // `-c alarms-of=production`.
  const lender: unknown = app.node.tryGetContext("alarms-of");
  const lent = Object.values(entries).find(({ name }) => name === lender)?.alarms;
  if (lender !== undefined && !lent)
    throw new CommandError(`alarms-of: no environment ${lender} has alarms`);
  for (const own of Object.values(entries)) {
    const alarms = lent ? borrowed(lent) : own.alarms;
    const environment = {
      ...own,
      ...(alarms && { alarms: { ...alarms, canary: alarms.canary && !atOnce } }),
    };
    const stack = new OrdersStack(app, environment.stackName, environment);
    if (atOnce) setEveryAlias(stack, alarms?.canary ?? false);
    addParts(stack);
  }
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return app;
}

/**
 * The alarms of another environment, with a canary. They notify no one: its operators would take
 * them for its own.
 */
function borrowed({
  email: _email,
  topicArn: _topicArn,
  ...settings
}: AlarmSettings): AlarmSettings {
  return { ...settings, canary: true };
}
