import { CfnOutput, RemovalPolicy, Stack, Tags, Validations } from "aws-cdk-lib";
import {
  type Attribute,
  AttributeType,
  BillingMode,
  type ITable,
  StreamViewType,
  Table,
} from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";
import type { Environment } from "../environments.ts";
import { addAlarms } from "./alarms.ts";
import { addCanaryRollout } from "./canary-rollout.ts";
import { perFunction, type TableName } from "./function-list.ts";
import { addLogMetrics } from "./log-metrics.ts";
import { addOrdersApi } from "./orders-api.ts";
import { addDashboard } from "./orders-dashboard.ts";
import { addFunction, type UsableTables } from "./service-function.ts";

/** One environment of the service: its two tables, its functions, its API, and what watches them. */
export class OrdersStack extends Stack {
  readonly #environment: Environment;

  constructor(scope: Construct, id: string, environment: Environment) {
    const { account, alarms, dashboard, keepData, listConcurrency, name, ordersStream, stackName } = environment;
    super(scope, id, {
      description: `Pet store orders service, ${name}`,
      terminationProtection: keepData,
      // CDK deploys a stack that names an account to no other account.
      ...(account && { env: { account: account.id, region: account.region } }),
    });
    this.#environment = environment;
    // For the bill.
    Tags.of(this).add("service", "pet-store-orders");
    Tags.of(this).add("environment", name);

    const tables = {
      orders: this.#tables("orders", "Orders", { name: "id", type: AttributeType.NUMBER }, ordersStream),
      apiKeys: this.#tables("apiKeys", "ApiKeys", { name: "keyHash", type: AttributeType.STRING }),
    };
    const functions = perFunction((functionName, entry) => {
      const concurrencyLimit = functionName === "listOrders" ? listConcurrency : undefined;
      return addFunction(this, entry, tables, environment, concurrencyLimit);
    });
    const api = addOrdersApi(this, environment, functions);
    const logMetrics = addLogMetrics(this, `PetStoreOrders/${name}`, api, functions);
    const watched = { api, functions, logMetrics };
    if (alarms) {
      const rollingBack = addAlarms(this, alarms, watched);
      if (alarms.canary) addCanaryRollout(this, functions, rollingBack);
    }
    if (dashboard) addDashboard(this, stackName, watched);

    new CfnOutput(this, "BaseUrl", { value: api.baseUrl });
    new CfnOutput(this, "OrdersTableName", { value: tables.orders.inUse.tableName });
    new CfnOutput(this, "ApiKeysTableName", { value: tables.apiKeys.inUse.tableName });
    if (ordersStream) new CfnOutput(this, "OrdersStreamArn", { value: this.#ordersStreamArn(tables.orders) });
  }

  /** Makes the stack's own table, which a restored one may replace. */
  #tables(name: TableName, id: string, partitionKey: Attribute, streamed = false): UsableTables {
    const { keepData, tableThroughput, restoredTables, formerTables } = this.#environment;
    const table = new Table(this, id, {
      partitionKey,
      billingMode: BillingMode.PAY_PER_REQUEST,
      maxReadRequestUnits: tableThroughput.reads,
      maxWriteRequestUnits: tableThroughput.writes,
      removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      deletionProtection: keepData,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: keepData },
      ...(streamed && { stream: StreamViewType.NEW_AND_OLD_IMAGES }),
    });
    if (!keepData) {
      Validations.of(table).acknowledge({ id: "AwsSolutions-DDB3", reason: "This environment's data may be lost" });
    }
    // CDK declares optional properties loosely: under exactOptionalPropertyTypes a Table is not quite an ITable.
    const own = table as ITable;
    const named = (prefix: string, tableName: string | undefined): ITable[] =>
      tableName === undefined ? [] : [Table.fromTableName(this, `${prefix}${id}`, tableName)];
    const restored = named("Restored", restoredTables?.[name]);
    const [inUse = own] = restored;
    return { inUse, usable: [...restored, own, ...named("Former", formerTables?.[name])] };
  }

  /** @throws Error when a restored table is in use, which comes without a stream, and the ARN of its new one isn't set. */
  #ordersStreamArn({ inUse }: UsableTables): string {
    const arn = inUse.tableStreamArn ?? this.#environment.restoredTables?.ordersStreamArn;
    if (arn !== undefined) return arn;
    throw new Error("ordersStream: turn on the stream of the restored table, then set restoredTables.ordersStreamArn");
  }
}
