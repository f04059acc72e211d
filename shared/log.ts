import { withoutSecrets } from "./secrets.ts";

/**
 * The name of a line of the functions' log. Lambda's JSON log format adds time, level and request
 * id, and puts the object under `message`. The stack's metric filters match `$.message.event`, so
 * these names are an interface.
 */
export type LogEvent =
  | "order_cancelled"
  | "orders_listed"
  | "cancel_rejected"
  | "cancel_failed"
  | "list_rejected"
  | "list_failed"
  | "list_abandoned"
  | "list_cut_off"
  | "order_fields_left_out"
  | "authorize_failed"
  | "not_ready";

/** The fields that a line may have beside its event. Never keys, headers or bodies. */
interface LogFields {
  keyId?: string | undefined;
  orderId?: string | undefined;
  code?: string;
  orders?: number;
  /** How long a list took to begin. */
  firstPageMilliseconds?: number;
  /** How often each field of an order was left out. */
  fields?: Record<string, number>;
  cause?: string;
}

/** Logs an expected outcome, including a rejected request. */
export function logOutcome(event: LogEvent, fields: LogFields): void {
  console.info({ event, ...fields });
}

/** Logs something that an operator should look at, though no request failed. */
export function logWarning(event: LogEvent, fields: LogFields): void {
  console.warn({ event, ...fields });
}

/** Logs a failure with its whole chain of causes. */
export function logFailure(event: LogEvent, cause: unknown, fields: LogFields): void {
  console.error({ event, ...fields, causes: causes(cause) });
}

/** Names, messages and stacks only: the error of a failed condition holds the whole item. */
function causes(error: unknown): object[] {
  if (!(error instanceof Error)) return [];
  const { name, message, stack = "" } = error;
  const cause = { name, message: withoutSecrets(message), stack: withoutSecrets(stack) };
  return [cause, ...causes(error.cause)];
}
