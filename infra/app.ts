import { App, Validations } from "aws-cdk-lib/core";
import { AwsSolutionsChecks } from "cdk-nag";
import { environments } from "./environments.ts";
import { addOwnParts } from "./own.ts";
import { setEveryAlias, skipsCanary } from "./stack/canary-rollout.ts";
import { OrdersStack } from "./stack/orders-stack.ts";
import { requireValid } from "./stack/require-valid.ts";
import { addRules } from "./stack/rules.ts";
import type { ServiceStack } from "./stack/service-stack.ts";
import type { Environment } from "./stack/settings.ts";

if (import.meta.main) createOrdersApp(environments, addOwnParts);

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
  for (const environment of Object.values(entries)) {
    const { alarms, stackName } = environment;
    const stack = new OrdersStack(app, stackName, {
      ...environment,
      ...(alarms && { alarms: { ...alarms, canary: alarms.canary && !atOnce } }),
    });
    if (atOnce) setEveryAlias(stack, alarms?.canary ?? false);
    addParts(stack);
    addRules(stack, environment);
  }
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return app;
}
