import { CfnOutput, Duration, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import { AttributeType, BillingMode, Table } from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";
import type { Environment } from "./environments.ts";
import { OrdersApi } from "./orders-api.ts";
import { ServiceFunction } from "./service-function.ts";

/** One environment of the service: its two tables, its three functions and its API. */
export class OrdersStack extends Stack {
  constructor(scope: Construct, id: string, environment: Environment) {
    super(scope, id, { description: `Pet store orders service, ${environment.name}` });

    const orders = this.table("Orders", { name: "id", type: AttributeType.NUMBER }, environment);
    const apiKeys = this.table("ApiKeys", { name: "keyHash", type: AttributeType.STRING }, environment);

    const listOrders = new ServiceFunction(this, "ListOrders", {
      entry: "list-orders.ts",
      timeout: Duration.minutes(15),
      memorySize: 1024,
      environment: { ORDERS_TABLE: orders.tableName },
      mayDo: { action: "dynamodb:Scan", table: orders },
      logRetention: environment.logRetentionDays,
    });
    const cancelOrder = new ServiceFunction(this, "CancelOrder", {
      entry: "cancel-order.ts",
      timeout: Duration.seconds(10),
      memorySize: 512,
      environment: { ORDERS_TABLE: orders.tableName },
      mayDo: { action: "dynamodb:UpdateItem", table: orders },
      logRetention: environment.logRetentionDays,
    });
    const authorize = new ServiceFunction(this, "Authorize", {
      entry: "authorize.ts",
      timeout: Duration.seconds(5),
      memorySize: 512,
      environment: { API_KEYS_TABLE: apiKeys.tableName },
      mayDo: { action: "dynamodb:GetItem", table: apiKeys },
      logRetention: environment.logRetentionDays,
    });

    const api = new OrdersApi(this, "Api", { environment, listOrders, cancelOrder, authorize });

    new CfnOutput(this, "BaseUrl", { value: api.baseUrl });
    new CfnOutput(this, "OrdersTableName", { value: orders.tableName });
    new CfnOutput(this, "ApiKeysTableName", { value: apiKeys.tableName });
  }

  private table(id: string, partitionKey: { name: string; type: AttributeType }, { keepData }: Environment): Table {
    const table = new Table(this, id, {
      partitionKey,
      billingMode: BillingMode.PAY_PER_REQUEST,
      removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      deletionProtection: keepData,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: keepData },
    });
    if (!keepData) {
      Validations.of(table).acknowledge({ id: "AwsSolutions-DDB3", reason: "Data of this environment may be lost" });
    }
    return table;
  }
}
