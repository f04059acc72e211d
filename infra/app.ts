import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { environments } from "./environments.ts";
import { OrdersStack } from "./stack/orders-stack.ts";

const app = new App();
for (const environment of Object.values(environments)) new OrdersStack(app, environment.stackName, environment);
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
