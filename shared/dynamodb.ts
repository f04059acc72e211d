import {
  DynamoDBClient,
  type DynamoDBClientConfig,
  DynamoDBServiceException,
} from "@aws-sdk/client-dynamodb";
import { HttpResponse } from "@smithy/core/protocols";
import {
  isServerError,
  isThrottlingError,
  isTransientError,
  StandardRetryStrategy,
} from "@smithy/core/retry";
import type { SdkError } from "@smithy/types";
import { ServiceError } from "./errors.ts";

/**
 * The limits of calls by the authorizer, by an operation on one order, and by a list:
 *
 * 1. An attempt waits up to `connectionTimeout` to connect, and up to `requestTimeout` in all until
 * the response begins, in milliseconds. Once it has begun, it may pause as long.
 * 2. A call makes up to `maxAttempts` attempts, the first included. The pauses between them grow
 * from `retryBaseDelay`.
 * 3. Other than for a list, a function makes one call for a request. All of its attempts that get no
 * response fit into the function's `timeoutSeconds` (`function-list.ts`), of which it leaves
 * `timeoutEarlyInMillis` (`functions/`) for the response.
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
    requestHandler: {
      ...timeouts,
      socketTimeout: timeouts.requestTimeout,
      throwOnRequestTimeout: true,
    },
  });
  // This middleware walks through every item of every response, for a log line that is never
  // written.
  client.middlewareStack.remove("loggerMiddleware");
  return retryLostCalls(client);
}

/** Returns what was thrown as an error, with the fields that the SDK and Node.js may add. */
function failureOf(thrown: unknown): SdkError & { code?: string; syscall?: string } {
  return (thrown instanceof Error ? thrown : new Error(String(thrown))) as SdkError;
}

/**
 * A call that got no well-formed response of DynamoDB at its last attempt. The SDK retries it.
 * `cause` is what the SDK or Node.js threw.
 */
export class LostCallError extends Error {
  override name = "LostCallError";
  readonly $retryable = {};

  constructor(cause: unknown) {
    const { name, code, $response } = failureOf(cause);
    const reason = $response
      ? `DynamoDB's response was incomplete or malformed (HTTP ${$response.statusCode})`
      : `No whole response of DynamoDB (${code ?? name})`;
    super(reason, { cause });
  }
}

/** The contexts and the errors of calls that may have been applied. */
const unsettled = new WeakSet<object>();

/**
 * Whether a call that failed may have been applied: at one of its attempts, DynamoDB failed, or no
 * response of DynamoDB followed a request that may have been sent.
 */
export function mayBeApplied(error: unknown): boolean {
  return unsettled.has(failureOf(error));
}

/**
 * Makes a client throw a LostCallError, and retry, whenever it gets no well-formed response of
 * DynamoDB: a success with a JSON body, or an error with a type, each with a request id. Whatever else
 * the network or a proxy does is the same to us. (To the SDK, a proxy's `{}` is a successful write.
 * Without a Content-Length, it treats a response as complete wherever it ends, even when it is
 * empty.)
 */
function retryLostCalls(client: DynamoDBClient): DynamoDBClient {
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const result = await next(args).catch((error: unknown) => {
        throw attemptError(error, context);
      });
      const { response, output } = result;
      const isRead = HttpResponse.isInstance(response) && response.body?.readableDidRead;
      if (isRead && output?.$metadata.requestId) return result;
      const malformed = new Error("The response is empty, or has no request id");
      throw attemptError(Object.assign(malformed, { $response: response }), context);
    },
    // Around the SDK's own deserialization, within its retries.
    { name: "retryLostCalls", step: "deserialize", priority: "high" },
  );
  client.middlewareStack.add(
    (next, context) => (args) =>
      next(args).catch((error: Error) => {
        if (unsettled.has(context)) unsettled.add(error);
        throw error;
      }),
    // Around all attempts: the last one may fail for another reason.
    { name: "rememberLostCalls", step: "initialize" },
  );
  return client;
}

/** The error to throw for what an attempt threw. Notes whether the attempt may have been applied. */
function attemptError(error: unknown, context: object): unknown {
  if (isDynamoDbError(error)) {
    if (error.$fault === "server") unsettled.add(context);
    chooseRetry(error);
    return error;
  }
  const { name, $response } = failureOf(error);
  // Our own code, or Node.js about our request.
  if (error instanceof TypeError && !$response) return error;
  if (!isWithoutConnection(error)) unsettled.add(context);
  // An AbortError: our own deadline ended the call.
  return name === "AbortError" ? error : new LostCallError(error);
}

/** Makes the SDK retry what it would not, and the other way round. */
function chooseRetry(error: DynamoDBServiceException) {
  if (error.name === "TransactionConflictException")
    Object.assign(error, { $retryable: { throttling: true } });
  // While the clock is off, the SDK sets this, and retries, whatever the call was rejected for.
  if (error.name !== "InvalidSignatureException")
    Object.defineProperty(error.$metadata, "clockSkewCorrected", { set: () => {} });
}

/**
 * Whether DynamoDB has responded with an error, which has a request id and a type. To the SDK, one
 * without a type is "Unknown".
 */
function isDynamoDbError(error: unknown): error is DynamoDBServiceException {
  return (
    error instanceof DynamoDBServiceException &&
    error.$metadata.requestId !== undefined &&
    /^(?!Unknown$)[A-Z]/.test(error.name)
  );
}

/** Whether an attempt failed before it had a connection, so that no request was sent. */
function isWithoutConnection(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isWithoutConnection);
  const { message, syscall } = failureOf(error);
  // All of the SDK's timeouts have the same name.
  const isConnectionTimeout = message.includes("did not establish a connection");
  return isConnectionTimeout || syscall === "getaddrinfo" || syscall === "connect";
}

/**
 * The ServiceError for a failed call: `service_unavailable` when the table throttles, fails or does
 * not respond in time, `internal_error` when the request itself was wrong, which is our fault.
 */
export function callFailed(error: unknown): ServiceError {
  return new ServiceError(
    isTemporary(error) ? "service_unavailable" : "internal_error",
    error,
  );
}

/** Whether the same call may succeed later. */
export function isTemporary(error: unknown): boolean {
  const failure = failureOf(error);
  return (
    // Our own deadline, or the operator, ended the call.
    failure.name === "AbortError" ||
    isThrottlingError(failure) ||
    // A LostCallError is one, too.
    isTransientError(failure) ||
    isServerError(failure)
  );
}

/** Whether a call failed because the table throttles. */
export function isThrottled(error: unknown): boolean {
  return isThrottlingError(failureOf(error));
}
