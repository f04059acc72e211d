import {
  type Attribute,
  AttributeType,
  BillingMode,
  StreamViewType,
  Table,
} from "aws-cdk-lib/aws-dynamodb";
import { PolicyDocument } from "aws-cdk-lib/aws-iam";
import { RemovalPolicy, type Stack, Validations } from "aws-cdk-lib/core";
import type { TableName } from "./function-list.ts";
import type { Environment } from "./settings.ts";
import { writersPolicy } from "./writers-policy.ts";

export interface UsableTables {
  inUse: Table;
  /** It, and those that live code may still use while a deployment replaces it. */
  usable: Table[];
}

/** The stack's own tables. The names of restored ones, too, begin with the stack's and the id. */
export const ownTables: Record<TableName, { id: string; partitionKey: Attribute }> = {
  orders: { id: "Orders", partitionKey: { name: "id", type: AttributeType.NUMBER } },
  apiKeys: { id: "ApiKeys", partitionKey: { name: "keyHash", type: AttributeType.STRING } },
};

/**
 * Makes the stack's own tables, and makes restored ones its resources, too: every setting holds for
 * all of them.
 *
 * CloudFormation adopts a table that exists only if the deployment says so
 * (`--import-existing-resources`), and then leaves it as it is, so `orders restore` gives it the
 * properties that it has here. Without that option the deployment fails, because a table of that
 * name exists. A table that leaves the settings leaves the stack, and stays.
 */
export function addTables(stack: Stack, environment: Environment): Record<TableName, UsableTables> {
  const {
    formerTables,
    keepData,
    ordersStream,
    restoredTables,
    tableThroughput,
    writerAccounts = [],
  } = environment;
  const orderSettings = {
    ...(ordersStream && { stream: StreamViewType.NEW_AND_OLD_IMAGES }),
    ...(writerAccounts.length > 0 && {
      resourcePolicy: PolicyDocument.fromJson(writersPolicy(writerAccounts)),
    }),
  };

  const addTable = (name: TableName, id: string, tableName?: string): Table => {
    const table = new Table(stack, id, {
      partitionKey: ownTables[name].partitionKey,
      billingMode: BillingMode.PAY_PER_REQUEST,
      maxReadRequestUnits: tableThroughput.reads,
      maxWriteRequestUnits: tableThroughput.writes,
      // Not RETAIN_ON_UPDATE_OR_DELETE: when a deployment fails, it would delete what it has just
      // adopted.
      removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      deletionProtection: keepData,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: keepData },
      ...(tableName && { tableName }),
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
  const tablesOf = (name: TableName): UsableTables => {
    const own = addTable(name, ownTables[name].id);
    // The logical id follows from the table's name: it stays when the table becomes a former one.
    const named = (tableName: string | undefined): Table[] =>
      tableName ? [addTable(name, `Restored-${tableName}`, tableName)] : [];
    const restored = named(restoredTables?.[name]);
    const [inUse = own] = restored;
    return { inUse, usable: [...restored, own, ...named(formerTables?.[name])] };
  };
  return { orders: tablesOf("orders"), apiKeys: tablesOf("apiKeys") };
}
