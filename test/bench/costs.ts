// Prints what the service costs, how the functions' memory sizes were chosen, and what it takes to grow, and draws the
// cost of an hour: all of it computed from prices.ts, growing.ts and the production template.
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { environments } from "../../infra/environments.ts";
import { OrdersStack } from "../../infra/stack/orders-stack.ts";
import { costChart, writeChart } from "./charts.ts";
import { costTables } from "./cost-tables.ts";
import { ends } from "./growing.ts";
import { markdown } from "./markdown.ts";

const app = new App({ context: { "aws:cdk:bundling-stacks": [] } });
const stack = new OrdersStack(app, environments.production.stackName, environments.production);
const tables = costTables(Template.fromStack(stack));
for (const table of Object.values(tables)) console.log(`${markdown(table)}\n`);
console.log(ends());
writeChart("cost", costChart(tables.cancellations, tables.lists));
