import {
  type Attribute,
  AttributeType,
  BillingMode,
  StreamViewType,
  Table,
} from "aws-cdk-lib/aws-dynamodb";
import { PolicyDocument } from "aws-cdk-lib/aws-iam";
import { RemovalPolicy, type Stack, Validations } from "aws-cdk-lib/core";
import type { ServiceTable } from "./function-list.ts";
import type { Environment } from "./settings.ts";

/** The tables of one environment. */
export type ServiceTables = Record<ServiceTable, Table>;

const partitionKeys: Record<ServiceTable, Attribute> = {
  orders: { name: "id", type: AttributeType.NUMBER },
  apiKeys: { name: "keyHash", type: AttributeType.STRING },
};

/**
 * Adds the stack's tables. Their names never change: a table that was deleted is restored under its
 * own name, and one that holds wrong orders is repaired where it is.
 */
export function addTables(stack: Stack, environment: Environment): ServiceTables {
  const { keepData, ordersStream, tableThroughput, writerAccounts = [] } = environment;
  const orderSettings = {
    ...(ordersStream && { stream: StreamViewType.NEW_AND_OLD_IMAGES }),
    ...(writerAccounts.length > 0 && {
      resourcePolicy: writersPolicy(writerAccounts),
    }),
  };
  const addTable = (name: ServiceTable, id: string): Table => {
    const table = new Table(stack, id, {
      partitionKey: partitionKeys[name],
      billingMode: BillingMode.PAY_PER_REQUEST,
      maxReadRequestUnits: tableThroughput.reads,
      maxWriteRequestUnits: tableThroughput.writes,
      removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      deletionProtection: keepData,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: keepData },
      ...(name === "orders" && orderSettings),
    });
    if (!keepData) {
      Validations.of(table).acknowledge({
        id: "AwsSolutions-DDB3",
        reason: "This environment's data may be lost",
      });
    }
    return table;
  };
  return { orders: addTable("orders", "Orders"), apiKeys: addTable("apiKeys", "ApiKeys") };
}

/** Lets other accounts' services do what a writer of orders needs (shared/ORDERS-TABLE.md). */
function writersPolicy(accounts: string[]): PolicyDocument {
  const Action = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"];
  // It is about the table that it is attached to, which can't name itself in it.
  const statement = {
    Effect: "Allow",
    Principal: { AWS: accounts },
    Action,
    Resource: "*",
  };
  return PolicyDocument.fromJson({ Version: "2012-10-17", Statement: [statement] });
}
