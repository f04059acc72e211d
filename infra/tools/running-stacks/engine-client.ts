import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createClient } from "../../../shared/dynamodb.ts";
import { dummyCredentials, region } from "./local-account.ts";

const limits = { connectionTimeout: 30_000, requestTimeout: 30_000, maxAttempts: 3 };

/** A client of the engine at an endpoint, whatever the shell's and the profile's settings are. */
export function engineClient(endpoint: string): DynamoDBClient {
  return createClient(limits, {
    // All that the SDK would read from the shell's environment and the AWS profile.
    accountIdEndpointMode: "disabled",
    authSchemePreference: [],
    endpointDiscoveryEnabled: false,
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    userAgentAppId: async () => undefined,
    endpoint,
    region,
    credentials: dummyCredentials,
  });
}
