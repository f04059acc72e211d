import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { retryLostCalls } from "../../../shared/dynamodb.ts";
import { dummyCredentials, region } from "./local-account.ts";

/** A client of the engine at an endpoint, whatever the shell's and the profile's settings are. */
export function engineClient(endpoint: string): DynamoDBClient {
  return retryLostCalls(
    new DynamoDBClient({
      // All that the SDK would read from the shell's environment and the AWS profile.
      accountIdEndpointMode: "disabled",
      authSchemePreference: [],
      endpointDiscoveryEnabled: false,
      maxAttempts: 3,
      retryMode: "standard",
      useDualstackEndpoint: false,
      useFipsEndpoint: false,
      userAgentAppId: async () => undefined,
      endpoint,
      region,
      credentials: dummyCredentials,
      requestHandler: {
        connectionTimeout: 30_000,
        requestTimeout: 30_000,
        socketTimeout: 30_000,
        throwOnRequestTimeout: true,
      },
    }),
  );
}
