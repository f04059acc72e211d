import { App, Validations } from "aws-cdk-lib/core";
import {
  CURRENT_VERSION_FLAG_DEFAULTS,
  CURRENTLY_RECOMMENDED_FLAGS,
} from "aws-cdk-lib/cx-api";
import { AwsSolutionsChecks } from "cdk-nag";
import { environments } from "./environments.ts";
import { addOwnParts } from "./own.ts";
import { setEveryAlias } from "./stack/canary-rollout.ts";
import { OrdersStack } from "./stack/orders-stack.ts";
import { addRules } from "./stack/rules.ts";
import { type Environment, mistakesIn } from "./stack/settings.ts";
import { CommandError } from "./tools/terminal/errors.ts";

/**
 * Creates the CDK app with a stack for each environment, and cdk-nag's rules for all of them.
 *
 * @param addParts adds a team's own parts to each stack.
 * @throws CommandError when a setting or a context value is wrong.
 */
export function createOrdersApp(
  entries: Record<string, Environment>,
  addParts: (stack: OrdersStack) => void = () => {},
): App {
  const mistakes = mistakesIn(entries);
  if (mistakes) throw new CommandError(mistakes);
  const app = new App({ context: flagDefaults });
  const atOnce = skipsCanary(app);
  for (const environment of Object.values(entries)) {
    const stack = new OrdersStack(app, environment.stackName, environment);
    if (atOnce) setEveryAlias(stack);
    addParts(stack);
    addRules(stack, environment);
  }
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return app;
}

/**
 * CDK's feature flags as they are when unset. CDK suggests setting them, which would rewrite policies
 * and versions, as long as nothing does.
 */
const flagDefaults = Object.fromEntries(
  Object.keys(CURRENTLY_RECOMMENDED_FLAGS).map((flag) => [
    flag,
    CURRENT_VERSION_FLAG_DEFAULTS[flag] ?? false,
  ]),
);

/**
 * Whether this deployment goes live at once, whatever the settings say:
 * `infra/petstore deploy ENV -c canary=false`. Meant for a rollback, and for a fix while an alarm is on,
 * when CodeDeploy starts no deployment.
 *
 * @throws CommandError when the context value `canary` is neither true nor false.
 */
function skipsCanary(app: App) {
  const canary = String(app.node.tryGetContext("canary") ?? true);
  if (!/^(true|false)$/.test(canary))
    throw new CommandError(`canary must be true or false, not ${canary}`);
  return canary === "false";
}

if (import.meta.main) createOrdersApp(environments, addOwnParts);
