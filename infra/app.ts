import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { environments } from "./environments.ts";
import { OrdersStack } from "./stack/orders-stack.ts";
import { requireDistinct } from "./stack/rules.ts";
import { setEveryAlias, skipsCanary, withoutCanary } from "./stack/without-canary.ts";

export const app = new App();
const atOnce = skipsCanary(app);
requireDistinct(environments);
for (const environment of Object.values(environments)) {
  const stack = new OrdersStack(app, environment.stackName, atOnce ? withoutCanary(environment) : environment);
  if (atOnce) setEveryAlias(stack);
}
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
