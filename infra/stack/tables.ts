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
import { writersPolicy } from "./writers-policy.ts";

export interface UsableTables {
  inUse: Table;
  /** It, and those that live code may still use while a deployment replaces it. */
  usable: Table[];
}

/** The stack's own tables. Names of restored ones also begin with the stack's name and the id. */
export const ownTables: Record<ServiceTable, { id: string; partitionKey: Attribute }> = {
  orders: { id: "Orders", partitionKey: { name: "id", type: AttributeType.NUMBER } },
  apiKeys: { id: "ApiKeys", partitionKey: { name: "keyHash", type: AttributeType.STRING } },
};

/**
 * Adds the stack's own tables and the restored ones: every setting holds for all of them.
 *
 * CloudFormation adopts a table that exists only if the deployment says so
 * (`--import-existing-resources`), and then leaves it as it is, so `orders restore` gives it the
 * properties that it has here. Without that option the deployment fails, because a table of that
 * name exists. A restored table that is no longer in the settings leaves the stack, but stays.
 */
export function addTables(
  stack: Stack,
  environment: Environment,
): Record<ServiceTable, UsableTables> {
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

  const addTable = (name: ServiceTable, id: string, tableName?: string): Table => {
    const table = new Table(stack, id, {
      partitionKey: ownTables[name].partitionKey,
      billingMode: BillingMode.PAY_PER_REQUEST,
      maxReadRequestUnits: tableThroughput.reads,
      maxWriteRequestUnits: tableThroughput.writes,
      // Not RETAIN_ON_UPDATE_OR_DELETE: a deployment that fails would delete the table that it has
      // just adopted.
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
  // The logical id follows from the table's name: it stays when the table becomes a former one.
  const addNamed = (name: ServiceTable, tableName: string | undefined): Table | undefined =>
    tableName === undefined ? undefined : addTable(name, `Restored-${tableName}`, tableName);
  const tablesOf = (name: ServiceTable): UsableTables => {
    const own = addTable(name, ownTables[name].id);
    const restored = addNamed(name, restoredTables?.[name]);
    const former = addNamed(name, formerTables?.[name]);
    const usable = [restored, own, former].filter((table) => table !== undefined);
    return { inUse: restored ?? own, usable };
  };
  return { orders: tablesOf("orders"), apiKeys: tablesOf("apiKeys") };
}
