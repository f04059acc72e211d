import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { retryLostCalls } from "../../../shared/dynamodb.ts";
import { dummyCredentials, region } from "./local-account.ts";

/**
 * A client of the engine at an endpoint, whatever the shell's and the profile's settings are.
 *
 * @param accessKeyId the one that the proxy of an embedded engine requires; an engine itself
 * accepts any.
 */
export function engineClient(
  endpoint: string,
  accessKeyId = dummyCredentials.accessKeyId,
): DynamoDBClient {
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
      credentials: { ...dummyCredentials, accessKeyId },
      requestHandler: {
        connectionTimeout: 30_000,
        requestTimeout: 30_000,
        throwOnRequestTimeout: true,
      },
    }),
  );
}
