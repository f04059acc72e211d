import { InvalidArgumentError } from "commander";
import { isApiKeyId } from "../../shared/api-keys.ts";
import { isDateTime, parseOrderId } from "../../shared/order.ts";
import { dateTimeHint } from "../terminal/date-time.ts";

/** A name or id. An unset shell variable would make it empty. */
export function parseText(text: string): string {
  if (text === "") throw new InvalidArgumentError("Must not be empty.");
  return text;
}

/** A key's id. */
export function parseKeyId(text: string): string {
  if (!isApiKeyId(text))
    throw new InvalidArgumentError("Must be like key_0123456789abcdef: `keys check` prints it.");
  return text;
}

/** A name that DynamoDB allows for a table. */
export function parseTable(text: string): string {
  if (!/^[\w.-]{3,255}$/.test(text))
    throw new InvalidArgumentError("Must be 3 to 255 of a-z, A-Z, 0-9, _, - and .");
  return text;
}

/** The names of an order's attributes, except those by which it is found, ended and reinstated. */
export function parseFields(text: string): string[] {
  const fields = text.split(",");
  if (fields.some((field) => /^(id|status|cancel\w+|reinstatedAt|)$/.test(field)))
    throw new InvalidArgumentError("Must be names like petId,quantity, and not id or status.");
  return fields;
}

/** An order's id. */
export function parseId(text: string): bigint {
  const id = parseOrderId(text);
  if (id === undefined)
    throw new InvalidArgumentError("Not a 64-bit integer without leading zeros.");
  return id;
}

/** An ISO 8601 date-time. A day alone stands for its `timeOfDay`, like `23:59:59Z`. */
export function parseMoment(text: string, timeOfDay: string): string {
  const moment = isDateTime(text) ? text : `${text}T${timeOfDay}`;
  if (isDateTime(moment)) return moment;
  const hint = dateTimeHint(text);
  throw new InvalidArgumentError(
    hint ? `It ${hint}.` : "Not a date like 2027-12-31, nor a date-time with Z or an offset.",
  );
}

/** A date-time. A day alone stands for its beginning. */
export function parseTime(text: string): Date {
  return new Date(parseMoment(text, "00:00:00Z"));
}
