import {
  DynamoDBClient,
  RestoreTableToPointInTimeCommand,
  type TableDescription,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
} from "@aws-sdk/client-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import type { Target } from "../../../infra/admin/target.ts";
import { type Environment, environments } from "../../../infra/environments.ts";

/** The second to restore, and the name of the table of orders that it makes. */
export const time = new Date("2026-11-20T08:00:05Z");
export const name = "PetStoreOrders-production-Orders-20261120080005";
export const arn = (table: string) => `arn:aws:dynamodb:eu-central-1:123456789012:table/${table}`;
/** The members that every exception of DynamoDB has. */
export const of = { $metadata: {}, message: "by the table" };

/** Tables whose client answers as the test says, and records what it was sent. */
export function mockedTables(environment: Environment = environments.production) {
  const client = new DynamoDBClient({ region: "eu-central-1" });
  const target: Target = {
    description: "",
    environment,
    ordersTable: "Own-Orders",
    apiKeysTable: "Own-ApiKeys",
    client,
  };
  const sent = mockClient(client);
  sent.on(RestoreTableToPointInTimeCommand).resolves({ TableDescription: {} });
  sent.on(UpdateContinuousBackupsCommand).resolves({ ContinuousBackupsDescription: undefined });
  sent.on(UpdateTableCommand).resolves({}).on(TagResourceCommand).resolves({});
  const calls = () => sent.calls().map(({ args: [command] }) => ({ [command.constructor.name]: command.input }));
  return { target, sent, calls };
}

/** A table that was restored as it should be. */
export const restored = (more: TableDescription = {}): { Table: TableDescription } => ({
  Table: {
    TableStatus: "ACTIVE",
    TableArn: arn(name),
    RestoreSummary: { SourceTableArn: arn("Own-Orders"), RestoreDateTime: time, RestoreInProgress: false },
    ...more,
  },
});
