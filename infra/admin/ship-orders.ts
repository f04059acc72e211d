import { randomInt } from "node:crypto";
import type { Command } from "commander";
import { isUnavailable } from "../../shared/dynamodb.ts";
import type { OrderItem, OrderStatus } from "../../shared/order.ts";
import { countsText } from "../terminal/counted.ts";
import { errorText } from "../terminal/errors.ts";
import { jsonText, printable } from "../terminal/printable.ts";
import { interruption, pacedCalls, run } from "./command.ts";
import { readIds } from "./order-ids.ts";
import { startProgress } from "./progress.ts";
import type { TableCalls } from "./table-calls.ts";
import { workThrough } from "./work-through.ts";

interface ShipOptions {
  /** A file of ids, `-` for standard input. */
  file?: string;
  /** An ISO 8601 date-time. */
  date?: string;
}

/** The words and the exit code of each outcome, the gravest last. */
const outcomes = {
  shipped: ["has shipped", 0],
  already_shipped: ["had already shipped", 3],
  cancelled: ["is cancelled and can't ship", 4],
  not_found: ["does not exist", 5],
  /** Its status is unknown to us, or missing. */
  not_pending: ["is not pending and can't ship", 6],
  not_tried: ["was not tried", 1],
  unknown: ["may have shipped or not", 7],
} as const;

/** The exit codes, for the help. */
export const shipExitCodes = [
  "",
  "Exit code, the gravest of the orders', which is the last of these:",
  ...Object.values(outcomes).map(([text, code]) => `  ${code}  ${text}`),
].join("\n");

interface Shipment {
  id: bigint;
  outcome: keyof typeof outcomes;
  shipDate?: string | undefined;
  status?: string | undefined;
  /** Why the outcome is unknown. */
  reason?: string;
}

/**
 * Ships the orders named on the command line, in a file or on standard input, several at a time,
 * and prints a line for each, in their order.
 */
export async function shipCommand(
  named: bigint[],
  { file, date }: ShipOptions,
  command: Command,
): Promise<void> {
  if (named.length > 0 && file !== undefined)
    command.error("error: name either orders or a file of ids");
  await run(command, async (target, asJson) => {
    const ids = named.length > 0 ? new Set(named) : await readIds(command, file);
    const calls = pacedCalls(command, target, "writes");
    const shipDate = date ?? now();
    const counts: Record<string, number> = {};
    const progress = startProgress("Shipping", "orders", ids.size);
    let done = 0;
    let previous = Promise.resolve();
    const ship = async (id: bigint, stop: AbortSignal): Promise<void> => {
      const turn = previous;
      const { promise, resolve } = Promise.withResolvers<void>();
      previous = promise;
      try {
        const shipment = await shipOrder(target.ordersTable, id, shipDate, calls, stop);
        await turn;
        progress.print(asJson ? jsonText(shipment) : shipmentText(shipment));
        counts[shipment.outcome] = (counts[shipment.outcome] ?? 0) + 1;
        progress.update(++done);
      } finally {
        resolve();
      }
    };
    const reason = await workThrough(ids.values(), ship, interruption());
    progress.stop();
    counts["not_tried"] = ids.size - done;
    const found = Object.entries(outcomes).filter(([outcome]) => counts[outcome]);
    process.exitCode = found.at(-1)?.[1][1] ?? 0;
    const foundCounts = found.map(([outcome]) => [outcome, counts[outcome]]);
    const summary = countsText("order", ids.size, Object.fromEntries(foundCounts));
    return {
      note: [ids.size > 1 ? summary : undefined, reason].filter(Boolean).join("\n"),
      unprinted: "Ship them again to see what has shipped",
    };
  });
}

function shipmentText({ id, outcome, shipDate, status, reason }: Shipment): string {
  const detail = shipDate ?? status ?? reason;
  const suffix = detail === undefined ? "" : `: ${detail}`;
  return printable(`Order ${id} ${outcomes[outcome][0]}${suffix}`);
}

/**
 * Ships an order in one conditional write: only `pending` becomes `shipped`.
 *
 * @param shipDate also distinguishes this write from anyone else's if its response is lost.
 * @throws what the DynamoDB client throws when the order can't have shipped.
 */
export async function shipOrder(
  table: string,
  id: bigint,
  shipDate: string,
  calls: TableCalls,
  signal: AbortSignal,
): Promise<Shipment> {
  const key: OrderItem = { id: { N: id.toString() } };
  const pending = { S: "pending" satisfies OrderStatus };
  const shipped: OrderItem = {
    status: { S: "shipped" satisfies OrderStatus },
    shipDate: { S: shipDate },
    complete: { BOOL: true },
  };
  try {
    const unmet = await calls.update(table, key, shipped, { status: pending }, signal);
    if (unmet === undefined) return { id, outcome: "shipped", shipDate };
    return { id, ...rejection(unmet.found) };
  } catch (error) {
    // Interrupted while it waited: not tried.
    if (Object(error).name === "AbortError" || !isUnavailable(error)) throw error;
    return { id, outcome: "unknown", reason: errorText(error) };
  }
}

/** Why an order can't ship, from its item in the table. */
function rejection(item: OrderItem | undefined): Omit<Shipment, "id"> {
  if (item === undefined) return { outcome: "not_found" };
  const { status, shipDate } = item;
  if (status?.S === "shipped") return { outcome: "already_shipped", shipDate: shipDate?.S };
  if (status?.S === "cancelled") return { outcome: "cancelled" };
  return { outcome: "not_pending", status: status?.S };
}

/** The time, with random microseconds, so that no other shipper writes the same. */
function now(): string {
  const microseconds = String(randomInt(1000)).padStart(3, "0");
  return new Date().toISOString().replace("Z", `${microseconds}Z`);
}
