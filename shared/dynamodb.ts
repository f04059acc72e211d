import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { isServerError, isThrottlingError, isTransientError } from "@smithy/core/retry";
import { ServiceError } from "./errors.ts";

/** How long one call to DynamoDB may take. All of it must fit into the function's timeout. */
export interface CallLimits {
  /** Milliseconds to connect, per attempt. */
  connectionTimeout: number;
  /** Milliseconds until the answer begins, per attempt. */
  requestTimeout: number;
  /** Attempts in all, the first included. */
  maxAttempts: number;
}

/** A client that never waits without a limit; the SDK's own defaults wait for ever. */
export function createClient({ connectionTimeout, requestTimeout, maxAttempts }: CallLimits): DynamoDBClient {
  const client = new DynamoDBClient({
    maxAttempts,
    requestHandler: { connectionTimeout, requestTimeout, throwOnRequestTimeout: true },
  });
  // It goes through every item of every answer for a log line that nobody asked for.
  client.middlewareStack.remove("loggerMiddleware");
  return client;
}

/**
 * The answer for a failed call: `service_unavailable` when the table throttles, breaks or does not answer in time,
 * `internal_error` when the request itself was wrong, which is our fault.
 */
export function callFailed(error: unknown): ServiceError {
  return new ServiceError(isUnavailable(error) ? "service_unavailable" : "internal_error", error);
}

function isUnavailable(error: unknown): boolean {
  if (!isSdkError(error)) return false;
  // The SDK calls a request that ran into our own deadline aborted.
  return error.name === "AbortError" || isThrottlingError(error) || isTransientError(error) || isServerError(error);
}

function isSdkError(error: unknown): error is Parameters<typeof isTransientError>[0] {
  return error instanceof Error;
}
