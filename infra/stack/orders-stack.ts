import { CfnOutput, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import { AttributeType, BillingMode, type ITable, Table } from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";
import type { Environment } from "../environments.ts";
import { Alarms } from "./alarms.ts";
import { CanaryRollout } from "./canary-rollout.ts";
import { perFunction } from "./function-list.ts";
import { LogMetrics } from "./log-metrics.ts";
import { OrdersApi } from "./orders-api.ts";
import { OrdersDashboard } from "./orders-dashboard.ts";
import { ServiceFunction } from "./service-function.ts";

/** One environment of the service: its two tables, its functions, its API, and what watches them. */
export class OrdersStack extends Stack {
  readonly #environment: Environment;

  constructor(scope: Construct, id: string, environment: Environment) {
    const { account, alarms, dashboard, listConcurrency, name, restoredTables, stackName } = environment;
    super(scope, id, {
      description: `Pet store orders service, ${name}`,
      // CDK deploys a stack that names an account to no other account.
      ...(account && { env: { account: account.id, region: account.region } }),
    });
    this.#environment = environment;

    const tables = {
      orders: this.#table("Orders", { name: "id", type: AttributeType.NUMBER }, restoredTables?.orders),
      apiKeys: this.#table("ApiKeys", { name: "keyHash", type: AttributeType.STRING }, restoredTables?.apiKeys),
    };
    const functions = perFunction(
      (functionName, entry) =>
        new ServiceFunction(this, {
          entry,
          tables,
          concurrencyLimit: functionName === "listOrders" ? listConcurrency : undefined,
          logRetention: environment.logRetentionDays,
          logLevel: environment.functionLogLevel,
        }),
    );
    const api = new OrdersApi(this, "Api", { environment, functions });
    const logMetrics = new LogMetrics(this, "LogMetrics", {
      namespace: `PetStoreOrders/${name}`,
      functions,
      accessLog: api.accessLog,
    });
    if (alarms) {
      const watching = new Alarms(this, "Alarms", { settings: alarms, api, functions, logMetrics });
      if (alarms.canary) new CanaryRollout(this, "Rollout", { functions, alarms: watching });
    }
    if (dashboard) new OrdersDashboard(this, "Dashboard", { name: stackName, api, functions, logMetrics });

    new CfnOutput(this, "BaseUrl", { value: api.baseUrl });
    new CfnOutput(this, "OrdersTableName", { value: tables.orders.tableName });
    new CfnOutput(this, "ApiKeysTableName", { value: tables.apiKeys.tableName });
  }

  /** The table in use: the stack's own, or a restored one instead. */
  #table(id: string, partitionKey: { name: string; type: AttributeType }, restored: string | undefined): ITable {
    const { keepData, tableThroughput } = this.#environment;
    const table = new Table(this, id, {
      partitionKey,
      billingMode: BillingMode.PAY_PER_REQUEST,
      maxReadRequestUnits: tableThroughput.reads,
      maxWriteRequestUnits: tableThroughput.writes,
      removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      deletionProtection: keepData,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: keepData },
    });
    if (!keepData) {
      Validations.of(table).acknowledge({ id: "AwsSolutions-DDB3", reason: "This environment's data may be lost" });
    }
    // CDK declares optional properties loosely: under exactOptionalPropertyTypes a Table is not quite an ITable.
    return restored === undefined ? (table as ITable) : Table.fromTableName(this, `Restored${id}`, restored);
  }
}
