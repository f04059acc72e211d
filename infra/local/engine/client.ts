import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { dummyCredentials, pseudoParameters } from "../template/local-account.ts";

/** A client of the engine at an endpoint. */
export function engineClient(endpoint: string): DynamoDBClient {
  return new DynamoDBClient({
    endpoint,
    region: pseudoParameters["AWS::Region"],
    credentials: dummyCredentials,
    requestHandler: { connectionTimeout: 30_000, requestTimeout: 30_000, throwOnRequestTimeout: true },
  });
}
