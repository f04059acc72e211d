import { DynamoDBClient, type DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import {
  isServerError,
  isThrottlingError,
  isTransientError,
  StandardRetryStrategy,
} from "@smithy/core/retry";
import { ServiceError } from "./errors.ts";

/**
 * The limits of calls by the authorizer, by an operation on one order, and by a list:
 *
 * 1. An attempt waits up to `connectionTimeout` to connect, and up to `requestTimeout` in all until
 * the response begins, in milliseconds.
 * 2. A call makes up to `maxAttempts` attempts, the first included. The pauses between them grow
 * from `retryBaseDelay`.
 * 3. Other than for a list, a function makes one call for a request. All of its attempts fit into
 * the function's `timeoutSeconds` (`function-list.ts`), of which it leaves `timeoutEarlyInMillis`
 * (`functions/`) for the response.
 * 4. A list makes a call for each page, which ends after `pageDeadline`, and more of them while the
 * table throttles, until `throttlingDeadline` (`orders-table.ts`). The whole list has Lambda's 15
 * minutes.
 * 5. Except for a list, the gateway waits a little longer than the function's timeout
 * (`orders-api.ts`).
 */
export const callLimits = {
  authorizer: { connectionTimeout: 300, requestTimeout: 1000, maxAttempts: 3 },
  oneOrder: { connectionTimeout: 500, requestTimeout: 2000, maxAttempts: 3 },
  list: { connectionTimeout: 500, requestTimeout: 4000, maxAttempts: 3 },
};

/** How long one call to DynamoDB may take. */
export type CallLimits = (typeof callLimits)["list"];

/**
 * The SDK's standard retries without its retry quota. The quota lasts as long as the process: after
 * a storm of failures a warm function would not retry at all, and one lost response would be a 503.
 * `maxAttempts` is limit enough.
 */
class RetriesWithoutQuota extends StandardRetryStrategy {
  override async refreshRetryTokenForRetry(
    ...failed: Parameters<StandardRetryStrategy["refreshRetryTokenForRetry"]>
  ) {
    const token = await super.refreshRetryTokenForRetry(...failed);
    // Gives back to the quota what this retry took.
    this.recordSuccess(token);
    return token;
  }
}

/**
 * The longest pause before the first retry, in milliseconds; a second if the table throttles. It
 * doubles with each retry.
 */
export const retryBaseDelay = 25;

/** A client that limits every wait; the SDK's defaults wait forever. */
export function createClient(
  { maxAttempts, ...timeouts }: CallLimits,
  settings: DynamoDBClientConfig = {},
): DynamoDBClient {
  const client = new DynamoDBClient({
    ...settings,
    maxAttempts,
    retryStrategy: new RetriesWithoutQuota({ maxAttempts, baseDelay: retryBaseDelay }),
    requestHandler: { ...timeouts, throwOnRequestTimeout: true },
  });
  // It walks through every item of every response for a log line that is never written.
  client.middlewareStack.remove("loggerMiddleware");
  return retryIncompleteResponses(client);
}

/**
 * Makes a client retry a call whose response is empty or not JSON, as if it were lost. Without a
 * Content-Length, the SDK treats a response as complete wherever it ends, even when it is empty.
 */
export function retryIncompleteResponses(client: DynamoDBClient): DynamoDBClient {
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args).catch((error: unknown) => {
        throw error instanceof SyntaxError ? incompleteResponse(error) : error;
      });
      const { body } = Object(result.response);
      if (!body?.readableDidRead) throw incompleteResponse();
      return result;
    },
    // Around the SDK's own deserialization, within its retries.
    { name: "retryIncompleteResponses", step: "deserialize", priority: "high" },
  );
  return client;
}

/** An error that the SDK retries. */
function incompleteResponse(cause?: SyntaxError) {
  const error = new Error("The response of DynamoDB was empty or not JSON", { cause });
  return Object.assign(error, { name: "IncompleteResponseError", $retryable: {} });
}

/**
 * The ServiceError for a failed call: `service_unavailable` when the table throttles, fails or does
 * not respond in time, `internal_error` when the request itself was wrong, which is our fault.
 */
export function callFailed(error: unknown): ServiceError {
  return new ServiceError(
    isUnavailable(error) ? "service_unavailable" : "internal_error",
    error,
  );
}

/** Whether a call failed because the table throttles. */
export function isThrottled(error: unknown): boolean {
  return isThrottlingError(Object(error));
}

/**
 * Whether a call failed because the table throttles, fails or does not respond in time; then it may
 * have been applied.
 */
export function isUnavailable(error: unknown): boolean {
  const failure = Object(error);
  // An AbortError: our own deadline ended the call.
  return (
    failure.name === "AbortError" ||
    isThrottlingError(failure) ||
    isTransientError(failure) ||
    isServerError(failure)
  );
}
