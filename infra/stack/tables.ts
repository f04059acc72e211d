import {
  AttributeType,
  BillingMode,
  StreamViewType,
  Table,
  type TableProps,
} from "aws-cdk-lib/aws-dynamodb";
import { PolicyDocument } from "aws-cdk-lib/aws-iam";
import { RemovalPolicy, type Stack, Validations } from "aws-cdk-lib/core";
import type { ServiceTable } from "./function-list.ts";
import type { Environment } from "./settings.ts";

/** The tables of one environment. */
export type ServiceTables = Record<ServiceTable, Table>;

/**
 * Adds the stack's tables. Their names never change: a table that was deleted is restored under its
 * own name, and one that holds wrong orders is repaired where it is.
 */
export function addTables(stack: Stack, environment: Environment): ServiceTables {
  const { keepData, ordersStream, tableThroughput, writerAccounts = [] } = environment;
  const addTable = (id: string, props: TableProps) => {
    const table = new Table(stack, id, {
      billingMode: BillingMode.PAY_PER_REQUEST,
      maxReadRequestUnits: tableThroughput.reads,
      maxWriteRequestUnits: tableThroughput.writes,
      removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      deletionProtection: keepData,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: keepData },
      ...props,
    });
    if (!keepData) {
      Validations.of(table).acknowledge({
        id: "AwsSolutions-DDB3",
        reason: "This environment's data may be lost",
      });
    }
    return table;
  };
  // Lets other accounts' services do what a writer of orders needs (shared/ORDERS-TABLE.md).
  const writersStatement = {
    Effect: "Allow",
    Principal: { AWS: writerAccounts },
    Action: [
      "dynamodb:GetItem",
      "dynamodb:PutItem",
      "dynamodb:UpdateItem",
      "dynamodb:ConditionCheckItem",
    ],
    // The table that the policy is attached to, which can't name itself in it.
    Resource: "*",
  };
  const resourcePolicy = PolicyDocument.fromJson({ Statement: [writersStatement] });
  return {
    orders: addTable("Orders", {
      partitionKey: { name: "id", type: AttributeType.NUMBER },
      ...(ordersStream && { stream: StreamViewType.NEW_AND_OLD_IMAGES }),
      ...(writerAccounts.length > 0 && { resourcePolicy }),
    }),
    apiKeys: addTable("ApiKeys", {
      partitionKey: { name: "keyHash", type: AttributeType.STRING },
    }),
  };
}
