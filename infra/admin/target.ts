import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Environment } from "../environments.ts";

/** The tables that a command works on, and the rules of their environment. */
export interface Target {
  /** Where that is, for people: the environment, and the AWS account and region if it is in AWS. */
  description: string;
  environment: Environment;
  ordersTable: string;
  apiKeysTable: string;
  client: DynamoDBClient;
}

/** How long a call may take. An operator waits longer than a caller of the API, but not for ever. */
export const callLimits = {
  maxAttempts: 5,
  requestHandler: { connectionTimeout: 3000, requestTimeout: 10_000, throwOnRequestTimeout: true },
};
