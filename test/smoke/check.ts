import { isDateTime, isInt64 } from "../../shared/order.ts";
import type { Answer } from "./client.ts";

/** What a promise turned out not to be. Its message says what was seen, and never a key. */
export class Broken extends Error {
  override name = "Broken";
}

/** @throws Broken when `condition` does not hold. */
export function check(condition: boolean, seen: string): asserts condition {
  if (!condition) throw new Broken(seen);
}

export function checkStatus({ status, body }: Answer, expected: number): void {
  check(status === expected, `status ${status} instead of ${expected}, with the body ${excerpt(body)}`);
}

export function checkHeader({ headers }: Answer, name: string, expected: string): void {
  const value = headers[name.toLowerCase()];
  check(value !== undefined, `no header ${name}`);
  check(value === expected, `the header ${name} is ${excerpt(String(value))} instead of ${expected}`);
}

/** That the answer is an Error record (contract, section 2): this status and code, and nothing but the three fields. */
export function checkError(answer: Answer, status: number, code: string): void {
  checkStatus(answer, status);
  checkHeader(answer, "Content-Type", "application/json");
  const record = parseObject(answer.body);
  check(record !== undefined, `the body is no JSON object: ${excerpt(answer.body)}`);
  check(
    Object.keys(record).sort().join() === "code,message,status" && typeof record["message"] === "string",
    `the body is no Error record: ${excerpt(answer.body)}`,
  );
  check(record["status"] === status, `the body's status is ${record["status"]}, the answer's ${status}`);
  check(record["code"] === code, `the code is ${record["code"]} instead of ${code}`);
}

const fields = new Map<string, (value: unknown, source: string) => boolean>([
  ["id", (_value, source) => isInt64(source)],
  ["petId", (_value, source) => isInt64(source)],
  ["quantity", (_value, source) => /^-?\d+$/.test(source)],
  ["shipDate", (value) => typeof value === "string" && isDateTime(value)],
  ["complete", (value) => typeof value === "boolean"],
]);

/**
 * That the text is a bare array of Orders (contract, section 2), none of them twice.
 *
 * @returns the ids, digit for digit.
 */
export function checkOrders(body: string): Set<string> {
  const ids = new Set<string>();
  const checkField = function (this: unknown, name: string, value: unknown, { source = "" }: { source?: string } = {}) {
    if (typeof this === "object" && !Array.isArray(this) && name !== "") {
      const isRight = fields.get(name);
      check(isRight !== undefined, `an Order has the field ${excerpt(name)}`);
      check(isRight(value, source), `an Order has the ${name} ${excerpt(source || JSON.stringify(value))}`);
      if (name === "id") {
        check(!ids.has(source), `the order ${source} is there twice`);
        ids.add(source);
      }
    }
    return value;
  };
  check(/^\s*\[/.test(body), `the body is no array: ${excerpt(body)}`);
  let orders: unknown;
  try {
    orders = JSON.parse(body, checkField);
  } catch (error) {
    if (error instanceof Broken) throw error;
    throw new Broken(`the body is no JSON: ${excerpt(body)}`);
  }
  const elements: unknown[] = Array.isArray(orders) ? orders : [];
  const other = elements.find((order) => typeof order !== "object" || order === null || Array.isArray(order));
  check(other === undefined, `an element is no Order: ${excerpt(JSON.stringify(other) ?? "")}`);
  return ids;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value))
      : undefined;
  } catch {
    return undefined;
  }
}

/** The beginning of what a server sent, on one line, without anything that has the form of a key. */
export function excerpt(text: string): string {
  const quoted = JSON.stringify(text.replaceAll(/pets_(?:test|live)_\w+/g, "pets_…"));
  return quoted.length > 120 ? `${quoted.slice(0, 120)}…` : quoted;
}
