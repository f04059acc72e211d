import type { Stage as ApiStage } from "aws-cdk-lib/aws-apigateway";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import { CfnOutput, PermissionsBoundary, Stack, Tags } from "aws-cdk-lib/core";
import type { Construct } from "constructs";
import { addAlarms } from "./alarms.ts";
import { bundles } from "./bundles.ts";
import { addCanaryRollout } from "./canary-rollout.ts";
import { type PerFunction, perFunction } from "./function-list.ts";
import { addLogMetrics } from "./log-metrics.ts";
import { addOrdersApi } from "./orders-api.ts";
import { addDashboard } from "./orders-dashboard.ts";
import { addFunction } from "./service-function.ts";
import type { Environment } from "./settings.ts";
import { addTables } from "./tables.ts";

/**
 * One environment of the service: its two tables, its functions, its API, and what watches them.
 * Teams use its fields in `infra/own.ts`: newer versions may add to them, but never change or
 * remove one.
 */
export class OrdersStack extends Stack {
  /** The environment's name, such as `staging`. */
  readonly environmentName: string;
  /** Whether the environment keeps its data. Then a table must be protected, or synthesis stops. */
  readonly keepData: boolean;
  /** Other accounts that may write orders, and so need the key of the table, if it has its own. */
  readonly writerAccounts: readonly string[];
  /** The table of orders. */
  readonly ordersTable: Table;
  /** The table of keys. */
  readonly apiKeysTable: Table;
  /** The Lambda functions, each with its role. */
  readonly functions: PerFunction<LambdaFunction>;
  /** The stage of the API, for a web ACL's association. */
  readonly stage: ApiStage;
  /** The topic that the stack's alarms notify; undefined without `alarms`. */
  readonly alarmsTopic: ITopic | undefined;

  constructor(scope: Construct, id: string, environment: Environment) {
    const { account, alarms, dashboard, keepData, name, permissionsBoundary, stackName } =
      environment;
    const tags = { service: "pet-store-orders", environment: name, ...environment.tags };
    super(scope, id, {
      description: `Pet store orders service, ${name}`,
      terminationProtection: keepData,
      // CDK deploys a stack that names an account to no other account.
      ...(account && { env: { account: account.id, region: account.region } }),
      ...(permissionsBoundary && {
        permissionsBoundary: PermissionsBoundary.fromName(permissionsBoundary),
      }),
    });
    for (const [tag, value] of Object.entries(tags)) Tags.of(this).add(tag, value);

    const tables = addTables(this, environment);
    const code = bundles(this);
    const functions = perFunction((key, entry) =>
      addFunction(this, entry, code[key], tables, environment),
    );
    const api = addOrdersApi(this, environment, functions);
    const logMetrics = addLogMetrics(this, `PetStoreOrders/${name}`, api, functions);
    const watched = { api, functions, logMetrics };
    if (alarms) {
      const { rollingBack, topic } = addAlarms(this, alarms, watched);
      addCanaryRollout(this, functions, rollingBack, alarms.canary);
      this.alarmsTopic = topic;
    }
    if (dashboard) addDashboard(this, stackName, watched);

    const outputs = {
      BaseUrl: api.baseUrl,
      OrdersTableName: tables.orders.tableName,
      ApiKeysTableName: tables.apiKeys.tableName,
      OrdersStreamArn: tables.orders.tableStreamArn,
    };
    for (const [id, value] of Object.entries(outputs))
      if (value) new CfnOutput(this, id, { value });

    this.environmentName = name;
    this.keepData = keepData;
    this.writerAccounts = environment.writerAccounts ?? [];
    this.ordersTable = tables.orders;
    this.apiKeysTable = tables.apiKeys;
    this.functions = perFunction((key) => functions[key].lambda);
    this.stage = api.stage;
  }
}
