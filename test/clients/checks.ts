import { readFileSync } from "node:fs";
import { getBorderCharacters, table } from "table";

/** The steps of every client, with what each must see. Programs print a line `step: what it saw` for every step. */
export interface Check {
  name: string;
  step: string;
  expected: string;
}

export const ordersFile = new URL("orders.ndjson", import.meta.url);

export const checks: Check[] = [
  { name: "lists nine orders, every value exact", step: "list", expected: listed(readFileSync(ordersFile, "utf8")) },
  { name: "cancels an order", step: "cancel", expected: "204" },
  { name: "reads the 409 of a second cancellation", step: "cancel again", expected: "409 order_already_cancelled" },
  { name: "reads the 404 of no order", step: "cancel no order", expected: "404 order_not_found" },
  { name: "reads the 401 of a bad key", step: "list without a key", expected: "401 unauthorized" },
  { name: "reads an order with a field it does not know", step: "list later", expected: "9223372036854775807,-,-,-,-" },
  { name: "reads an error code it does not know", step: "cancel later", expected: "409 order_being_packed" },
];

/** The checks that a program's output fails, each with what it saw instead. */
export function failures(output: string): { check: Check; saw: string }[] {
  const lines = new Map(output.split("\n").map((line) => [line.split(": ", 1)[0], line.slice(line.indexOf(": ") + 2)]));
  return checks
    .map((check) => ({ check, saw: lines.get(check.step) ?? "nothing" }))
    .filter(({ check, saw }) => sorted(saw) !== sorted(check.expected));
}

/** The result of one client. */
export interface Result {
  /** Like `Go 1.24`. */
  client: string;
  /** Like `oapi-codegen 2.5.0`. */
  generator: string;
  passed: number;
  /** The failures, a line each. */
  complaints: string[];
}

/**
 * Prints the clients that ran, each with its generator and how many checks it passed, and what failed. Anything that
 * failed makes the exit code 1.
 *
 * @throws Error when none ran.
 */
export function conclude(results: Result[]): void {
  if (results.length === 0) throw new Error("No client ran");
  const cells = results.map(({ client, generator, passed }) => [client, generator, `${passed} of ${checks.length}`]);
  const rows = [["Client", "Generator", "Checks passed"], ...cells];
  console.log(table(rows, { border: getBorderCharacters("void"), drawHorizontalLine: () => false }));
  const failures = results.flatMap(({ client, complaints }) =>
    complaints.map((complaint) => `${client}: ${complaint}`),
  );
  for (const failure of failures) console.error(failure);
  if (failures.length > 0) process.exitCode = 1;
}

/** A list is in no particular order. */
function sorted(orders: string): string {
  return orders.split(" ").sort().join(" ");
}

/** Orders as the programs print them: the five fields, a date in milliseconds since 1970, and `-` for none. */
function listed(ndjson: string): string {
  const digits = (_name: string, value: unknown, context?: { source: string }) =>
    typeof value === "number" ? context?.source : value;
  return ndjson
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line, digits))
    .map(({ id, petId = "-", quantity = "-", shipDate, complete = "-" }) =>
      [id, petId, quantity, shipDate === undefined ? "-" : Date.parse(shipDate), complete].join(),
    )
    .join(" ");
}
