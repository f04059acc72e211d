/**
 * The functions' structured log. Lambda's JSON log format adds time, level and request id and puts the object under
 * `message`; the metric filters of the stack match `$.message.event`, so these names are an interface.
 */
export type LogEvent =
  | "order_cancelled"
  | "orders_listed"
  | `${"cancel" | "list"}_${"refused" | "failed"}`
  | "list_abandoned"
  | "list_cut_off"
  | "order_fields_left_out"
  | "authorize_failed";

/** What a line may say. Keys, headers and bodies have no place here. */
export interface LogFields {
  keyId?: string | undefined;
  orderId?: string | undefined;
  code?: string;
  orders?: number;
  /** How long a list took to begin. */
  firstPageMilliseconds?: number;
  fields?: Record<string, number>;
}

/** Writes the line of an outcome that the service is made for, a refusal included. */
export function logOutcome(event: LogEvent, fields: LogFields): void {
  console.info({ event, ...fields });
}

/** Writes the line of something an operator should look at that failed no request. */
export function logWarning(event: LogEvent, fields: LogFields): void {
  console.warn({ event, ...fields });
}

/** Writes the line of a failure with its whole chain of causes. */
export function logFailure(event: LogEvent, cause: unknown, fields: LogFields): void {
  console.error({ event, ...fields, causes: causes(cause) });
}

/** Only names and messages: a failed condition's error holds the whole item. */
function causes(error: unknown): { name: string; message: string; stack?: string | undefined }[] {
  if (!(error instanceof Error)) return [];
  const { name, message, stack } = error;
  return [{ name, message, stack }, ...causes(error.cause)];
}
