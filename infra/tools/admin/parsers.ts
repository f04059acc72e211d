import { InvalidArgumentError } from "commander";
import { isApiKeyId } from "../../../shared/api-keys.ts";
import { isDateTime, isInt64, orderStatuses } from "../../../shared/order.ts";
import { accepting } from "../terminal/script.ts";
import { dateTimeHint, printable } from "../terminal/text.ts";

/** The statuses that orders are listed and counted by; `other` is any other status, or none. */
export const statusChoices = [...orderStatuses, "other"] as const;

/** A key's id. */
export const parseKeyId = accepting(
  isApiKeyId,
  "Must be like key_0123456789abcdef: `keys check` prints it.",
);

/** A name that DynamoDB allows for a table. */
export const parseTable = accepting(
  (text) => /^[\w.-]{3,255}$/.test(text),
  "Must be 3 to 255 of a-z, A-Z, 0-9, _, - and .",
);

/** The names of an order's attributes, except those that identify it or prove how it got its status. */
export function parseFields(text: string): string[] {
  const fields = text.split(",");
  if (fields.some((field) => /^(id|cancel\w+|shipmentId|reinstatedAt|)$/.test(field)))
    throw new InvalidArgumentError(
      "Must be names like petId,quantity, and not id or shipmentId.",
    );
  return fields;
}

/** An order's id. */
export const parseId = accepting(isInt64, "Not a 64-bit integer without leading zeros.");

/** An ISO 8601 date-time. A day alone stands for its `timeOfDay`, like `23:59:59Z`. */
function parseMoment(text: string, timeOfDay: string) {
  const moment = [text, `${text}T${timeOfDay}`].find(isDateTime);
  if (moment) return moment;
  const hint = dateTimeHint(text);
  throw new InvalidArgumentError(
    hint
      ? `It ${hint}.`
      : "Not a date like 2027-12-31, nor a date-time with Z or an offset.",
  );
}

/** An ISO 8601 date-time. A day alone stands for its beginning. */
export function parseTime(text: string): string {
  return parseMoment(text, "00:00:00Z");
}

/** Who a key is for. */
export function parseName(name: string): string {
  const trimmed = name.trim();
  // Counted in code points: one visible character can take any number of bytes.
  if (!/^.{1,200}$/su.test(trimmed))
    throw new InvalidArgumentError("Must have 1 to 200 characters (code points).");
  if (printable(trimmed) !== trimmed)
    throw new InvalidArgumentError("Must be one line without control characters.");
  return trimmed;
}

/**
 * The time at which a key expires, in epoch seconds. A day ends with its last second, so that `keys
 * list` shows the day the operator gave.
 */
export function parseExpiry(text: string): number {
  const expiresAt = Math.floor(Date.parse(parseMoment(text, "23:59:59Z")) / 1000);
  if (new Date(expiresAt * 1000).getUTCFullYear() > 9999) {
    throw new InvalidArgumentError("Must be in the year 9999 or earlier, in UTC.");
  }
  if (expiresAt * 1000 <= Date.now())
    throw new InvalidArgumentError("Must be in the future.");
  return expiresAt;
}
