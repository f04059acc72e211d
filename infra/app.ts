import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { type Environment, environments } from "./environments.ts";
import { OrdersStack } from "./stack/orders-stack.ts";
import { requireDistinct } from "./stack/rules.ts";
import { setEveryAlias, skipsCanary } from "./stack/without-canary.ts";

export const app = new App();
const atOnce = skipsCanary(app);
requireDistinct(environments);
// In the first hour, an environment borrows the alarms and the canary of another one: `-c alarms-of=production`.
const lender: unknown = app.node.tryGetContext("alarms-of");
const lent = Object.values<Environment>(environments).find(({ name }) => name === lender)?.alarms;
if (lender !== undefined && !lent) throw new Error(`alarms-of: no environment ${lender} has alarms`);
for (const own of Object.values<Environment>(environments)) {
  const alarms = lent ? { ...lent, canary: true } : own.alarms;
  const environment = { ...own, ...(alarms && { alarms: { ...alarms, canary: alarms.canary && !atOnce } }) };
  const stack = new OrdersStack(app, environment.stackName, environment);
  if (atOnce) setEveryAlias(stack);
}
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
