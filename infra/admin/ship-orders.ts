import { createReadStream } from "node:fs";
import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { parseOrderId } from "../../shared/order.ts";
import { callersPath } from "../local/machine/callers-path.ts";
import { rethrowNaming } from "../orders-file/orders-file.ts";
import { jsonText, printable } from "../orders-file/printable.ts";
import { findTarget, type GlobalOptions, interruption } from "./command.ts";
import { CommandError, errorLine } from "./errors.ts";
import { type Shipment, shipOrder } from "./orders.ts";
import { pacedCalls } from "./rate.ts";
import type { TableCalls } from "./table-calls.ts";
import type { Target } from "./target.ts";
import { counted, standardInput } from "./terminal.ts";
import { workThrough } from "./work-through.ts";

export interface ShipOptions {
  /** A file of ids, `-` for standard input. */
  file?: string;
  /** An ISO 8601 date-time. */
  date?: string;
}

/** The message and the exit code of each outcome; several orders have the code of the worst. */
const outcomes: Record<Shipment["outcome"], [text: string, exitCode: number]> = {
  shipped: ["has shipped", 0],
  already_shipped: ["had already shipped", 3],
  cancelled: ["is cancelled and can't ship", 4],
  not_found: ["does not exist", 5],
  not_pending: ["is not pending and can't ship", 6],
  unknown: ["may have shipped or not", 7],
};

/** Ships the orders that the command line names, or a file or standard input, and prints a line for each. */
export async function shipCommand(command: Command, named: bigint[], { file, date }: ShipOptions): Promise<void> {
  if (named.length > 0 && file !== undefined) command.error("error: name either orders or a file of ids");
  const target = await findTarget(command);
  const ids = new Set(named.length > 0 ? named : await readIds(file));
  const { json } = command.optsWithGlobals<GlobalOptions>();
  const print = (shipment: Shipment, text: string): void =>
    void process.stdout.write(`${json ? jsonText(shipment) : printable(text)}\n`);
  const calls = pacedCalls(command, target, "writes");
  process.exitCode = await shipOrders(target, ids, date ?? now(), { calls, print, signal: interruption() });
  target.client.destroy();
}

/** The ways and means of shipping orders. */
export interface Shipping {
  calls: TableCalls;
  /** Called with each order's outcome, also as a sentence. */
  print: (shipment: Shipment, text: string) => void;
  /** Stops it; orders being shipped are finished. */
  signal: AbortSignal;
}

/**
 * Ships orders, several at a time.
 *
 * @returns the exit code.
 * @throws CommandError when not all were tried.
 */
export async function shipOrders(
  target: Target,
  ids: Set<bigint>,
  shipDate: string,
  { calls, print, signal }: Shipping,
): Promise<number> {
  let left = ids.size;
  let exitCode = 0;
  const ship = async (id: bigint, stop: AbortSignal): Promise<void> => {
    const shipment = await shipOrder(target, id, shipDate, calls, stop);
    left--;
    const [words, code] = outcomes[shipment.outcome];
    const detail = shipment.shipDate ?? shipment.status ?? shipment.reason;
    print(shipment, `Order ${id} ${words}${detail === undefined ? "" : `: ${detail}`}`);
    exitCode = Math.max(exitCode, code);
  };
  const failure = await workThrough(ids.values(), ship, signal);
  if (left === 0) return exitCode;
  const reason = failure === undefined ? "Interrupted" : errorLine(failure);
  throw new CommandError(`${reason}. ${counted(left, "order")} not tried`);
}

/** Reads a file of order ids, one per line; `-` is standard input. */
async function readIds(file = "-"): Promise<bigint[]> {
  const name = file === "-" ? "standard input" : file;
  const source = file === "-" ? standardInput() : createReadStream(callersPath(file));
  const lines = (await text(source).catch(rethrowNaming(name))).split("\n").map((line) => line.trim());
  return lines.flatMap((line, at) => {
    const id = parseOrderId(line);
    if (id !== undefined) return id;
    if (line === "") return [];
    throw new CommandError(`${name}:${at + 1}: not a 64-bit integer: nothing has shipped`);
  });
}

/** The time to the microsecond, so that no other shipper writes the same. */
function now(): string {
  const milliseconds = performance.timeOrigin + performance.now();
  return new Date(milliseconds).toISOString().replace("Z", `${(milliseconds % 1).toFixed(3).slice(2)}Z`);
}
