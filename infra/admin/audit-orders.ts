import type { Command } from "commander";
import { z } from "zod";
import type { LogEvent } from "../../shared/log.ts";
import { isInt64, type OrderItem } from "../../shared/order.ts";
import { counted, grouped } from "../terminal/counted.ts";
import { CommandError } from "../terminal/errors.ts";
import { jsonText, printable } from "../terminal/printable.ts";
import { interruption, pacedCalls, type Result, run } from "./command.ts";
import { inputLines } from "./input-lines.ts";
import { startProgress } from "./progress.ts";
import { plainOrder } from "./show-orders.ts";
import type { TableCalls } from "./table-calls.ts";
import { workThrough } from "./work-through.ts";

const event = "order_cancelled" satisfies LogEvent;

/** A cancellation that the service has acknowledged, as its function logs it. */
const cancellationSchema = z.object({
  timestamp: z.iso.datetime(),
  requestId: z.string(),
  message: z.object({
    event: z.literal(event),
    keyId: z.string(),
    orderId: z.string().refine(isInt64),
  }),
});

type Cancellation = z.infer<typeof cancellationSchema>;

/** As many as one call reads. */
const batchSize = 100;

/** Audits the cancellations of a log against the table in use. */
export function auditCommand({ log }: { log: string }, command: Command): Promise<void> {
  return run(command, async (target, asJson) => {
    const calls = pacedCalls(command, target, "reads");
    return await audit({ table: target.ordersTable, log, calls, asJson });
  });
}

interface Audit {
  table: string;
  /** The name of a file, `-` for standard input. */
  log: string;
  calls: TableCalls;
  asJson: boolean;
}

/**
 * Prints a line for each cancellation of a log that the table doesn't show.
 *
 * @returns a rejection if there is one, or not all could be read.
 * @throws CommandError when the log has no cancellations.
 */
async function audit({ table, log, calls, asJson }: Audit): Promise<Result> {
  const progress = startProgress("Auditing", "cancellations", 0);
  const counts = { stands: 0, undone: 0, reinstated: 0 };
  let audited = 0;
  const auditBatch = async (batch: Cancellation[], stop: AbortSignal): Promise<void> => {
    const ids = new Set(batch.map(({ message }) => message.orderId));
    const keys = [...ids].map((N) => ({ N }));
    const orders = await calls.getMany(table, "id", keys, stop, true);
    for (const cancellation of batch) {
      const order = orders.get(cancellation.message.orderId);
      const outcome = outcomeOf(cancellation, order);
      counts[outcome]++;
      const print = asJson ? undoneJson : undoneText;
      if (outcome === "undone") progress.print(print(cancellation, order));
    }
    audited += batch.length;
    progress.update(audited);
  };
  const reason = await workThrough(readCancellations(log), auditBatch, interruption());
  progress.stop();
  if (reason === undefined && audited === 0) throw new CommandError(`${log} has no cancellations`);
  const { stands, undone, reinstated } = counts;
  const summary =
    `${counted(audited, "cancellation")}: ${grouped(stands)} stand, ${grouped(undone)} undone, ` +
    `${grouped(reinstated)} not judged, as their orders were reinstated since`;
  const rest = reason === undefined ? "" : `\n${reason}. The rest was not audited.`;
  return { note: summary + rest, rejected: undone > 0 || reason !== undefined };
}

/**
 * Reads the cancellations of a log, which may have other lines.
 *
 * @throws CommandError for a line that may be a cancellation, but isn't whole.
 */
async function* readCancellations(log: string): AsyncGenerator<Cancellation[], void, void> {
  let batch: Cancellation[] = [];
  for await (const { text, place } of inputLines(log)) {
    const line = parseJson(text);
    const isOther = !text.includes(event) && (line !== undefined || !text.startsWith("{"));
    if (isOther) continue;
    const { success, data } = cancellationSchema.safeParse(line);
    if (!success) throw new CommandError(`${place}: not a whole line of the function's log`);
    batch.push(data);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a cancellation stands, judged by the order that the table has now. */
function outcomeOf(
  { timestamp, requestId, message }: Cancellation,
  { status, cancelledBy, cancellationId, reinstatedAt }: OrderItem = {},
): "stands" | "reinstated" | "undone" {
  const isThisOne = cancellationId?.S === requestId && cancelledBy?.S === message.keyId;
  if (status?.S === "cancelled" && isThisOne) return "stands";
  const isReinstated = Date.parse(reinstatedAt?.S ?? "") >= Date.parse(timestamp);
  return isReinstated ? "reinstated" : "undone";
}

function undoneText({ timestamp, requestId, message }: Cancellation, order?: OrderItem): string {
  const { keyId, orderId } = message;
  const cancelled = `${keyId} cancelled it at ${timestamp} (request ${requestId})`;
  return printable(`Order ${orderId} ${stateText(order)}, but ${cancelled}`);
}

function stateText(order: OrderItem | undefined): string {
  if (order === undefined) return "is missing";
  const { status, cancelledAt, cancelledBy, cancellationId } = order;
  if (status?.S !== "cancelled") return status?.S ? `is ${status.S}` : "has no status";
  const by = `by ${cancelledBy?.S} at ${cancelledAt?.S} (request ${cancellationId?.S})`;
  return `has another cancellation, ${by}`;
}

function undoneJson({ timestamp, requestId, message }: Cancellation, order?: OrderItem): string {
  return jsonText({
    id: BigInt(message.orderId),
    cancelledBy: message.keyId,
    cancellationId: requestId,
    loggedAt: timestamp,
    order: order ? plainOrder(order) : null,
  });
}
