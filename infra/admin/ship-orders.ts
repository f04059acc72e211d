import { randomInt } from "node:crypto";
import type { Command } from "commander";
import { isUnavailable } from "../../shared/dynamodb.ts";
import type { OrderItem, OrderStatus } from "../../shared/order.ts";
import { counted } from "../terminal/counted.ts";
import { CommandError, errorLine } from "../terminal/errors.ts";
import { jsonText, printable } from "../terminal/printable.ts";
import { interruption, pacedCalls, run } from "./command.ts";
import { readIds } from "./order-ids.ts";
import { type TableCalls, whilePending } from "./table-calls.ts";
import { workThrough } from "./work-through.ts";

interface ShipOptions {
  /** A file of ids, `-` for standard input. */
  file?: string;
  /** An ISO 8601 date-time. */
  date?: string;
}

/** The message and exit code of each outcome. For several orders, the highest code counts. */
const outcomes = {
  shipped: ["has shipped", 0],
  already_shipped: ["had already shipped", 3],
  cancelled: ["is cancelled and can't ship", 4],
  not_found: ["does not exist", 5],
  /** Its status is unknown to us, or missing. */
  not_pending: ["is not pending and can't ship", 6],
  unknown: ["may have shipped or not", 7],
} as const;

const codes = Object.values(outcomes).map(([words, code]) => `  ${code}  ${words}`);
/** The exit codes, for the help. */
export const shipExitCodes = [
  "",
  "Exit code, the highest of the orders':",
  ...codes,
  "  1  some were not tried",
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
 * and prints a line for each.
 */
export async function shipCommand(
  named: bigint[],
  { file, date }: ShipOptions,
  command: Command,
): Promise<void> {
  if (named.length > 0 && file !== undefined)
    command.error("error: name either orders or a file of ids");
  await run(command, async (target, json) => {
    const ids = named.length > 0 ? new Set(named) : await readIds(file);
    const calls = pacedCalls(command, target, "writes");
    const shipDate = date ?? now();
    let left = ids.size;
    let exitCode = 0;
    const ship = async (id: bigint, stop: AbortSignal): Promise<void> => {
      const shipment = await shipOrder(target.ordersTable, id, shipDate, calls, stop);
      left--;
      const [words, code] = outcomes[shipment.outcome];
      const detail = shipment.shipDate ?? shipment.status ?? shipment.reason;
      const text = `Order ${id} ${words}${detail === undefined ? "" : `: ${detail}`}`;
      process.stdout.write(`${json ? jsonText(shipment) : printable(text)}\n`);
      exitCode = Math.max(exitCode, code);
    };
    const reason = await workThrough(ids.values(), ship, interruption());
    if (reason !== undefined)
      throw new CommandError(`${reason}. ${counted(left, "order")} not tried`);
    process.exitCode = exitCode;
    return {};
  });
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
  const shipped: OrderItem = {
    status: { S: "shipped" satisfies OrderStatus },
    shipDate: { S: shipDate },
    complete: { BOOL: true },
  };
  try {
    const unmet = await calls.update(table, key, shipped, whilePending, signal);
    if (unmet === undefined) return { id, outcome: "shipped", shipDate };
    return { id, ...rejection(unmet.found) };
  } catch (error) {
    if (signal.aborted || !isUnavailable(error)) throw error;
    return { id, outcome: "unknown", reason: errorLine(error) };
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
