import type { Command } from "commander";
import { z } from "zod";
import type { LogEvent } from "../../shared/log.ts";
import { isInt64, type OrderItem } from "../../shared/order.ts";
import { countsText } from "../terminal/counted.ts";
import { CommandError } from "../terminal/errors.ts";
import { jsonText, printable } from "../terminal/printable.ts";
import { interruption, pacedCalls, run } from "./command.ts";
import { inputLines } from "./input-lines.ts";
import { startProgress } from "./progress.ts";
import { plainOrder } from "./show-orders.ts";
import { hundreds } from "./table-calls.ts";
import { workThrough } from "./work-through.ts";

const event = "order_cancelled" satisfies LogEvent;

/** A cancellation that the service has acknowledged, as its function logs it. */
const cancellationSchema = z
  .object({
    timestamp: z.iso.datetime(),
    requestId: z.string(),
    message: z.object({
      event: z.literal(event),
      keyId: z.string(),
      orderId: z.string().refine(isInt64),
    }),
  })
  .transform(({ timestamp, requestId, message }) => ({
    id: BigInt(message.orderId),
    cancelledBy: message.keyId,
    cancellationId: requestId,
    loggedAt: timestamp,
  }));

type Cancellation = z.infer<typeof cancellationSchema>;

/** Prints a line for each cancellation of a log that the table in use doesn't show. */
export function auditCommand({ log }: { log: string }, command: Command): Promise<void> {
  return run(command, async (target, asJson) => {
    const calls = pacedCalls(command, target, "reads");
    const counts = { stand: 0, undone: 0, reinstatedSinceAndNotJudged: 0 };
    const progress = startProgress("Auditing", "cancellations", 0);
    const print = asJson ? undoneJson : undoneText;
    let audited = 0;
    const audit = async (batch: Cancellation[], stop: AbortSignal): Promise<void> => {
      const keys = [...new Set(batch.map(({ id }) => String(id)))].map((N) => ({ N }));
      const orders = await calls.getMany(target.ordersTable, "id", keys, stop, true);
      for (const cancellation of batch) {
        const order = orders.get(String(cancellation.id));
        const outcome = outcomeOf(cancellation, order);
        counts[outcome]++;
        if (outcome === "undone") progress.print(print(cancellation, order));
      }
      audited += batch.length;
      progress.update(audited);
    };
    const cancellations = hundreds(readCancellations(log));
    const reason = await workThrough(cancellations, audit, interruption());
    progress.stop();
    if (reason === undefined && audited === 0)
      throw new CommandError(`${log} has no cancellations`);
    const summary = countsText("cancellation", audited, counts);
    return {
      note: reason === undefined ? summary : `${summary}\n${reason}. The rest was not audited.`,
      rejected: counts.undone > 0 || reason !== undefined,
    };
  });
}

/**
 * Reads the cancellations of a log, which may have other lines.
 *
 * @throws CommandError when a cancellation's line isn't whole.
 */
async function* readCancellations(log: string): AsyncGenerator<Cancellation, void, void> {
  for await (const { text, place } of inputLines(log))
    if (text.includes(event)) yield parseCancellation(text, place);
}

function parseCancellation(line: string, place: string): Cancellation {
  try {
    return cancellationSchema.parse(JSON.parse(line));
  } catch {
    throw new CommandError(`${place}: not a whole line of the function's log`);
  }
}

/** Whether a cancellation stands, by the order as it is now; not judged if reinstated since. */
function outcomeOf(
  { cancellationId, loggedAt }: Cancellation,
  { status, cancellationId: latest, reinstatedAt }: OrderItem = {},
): "stand" | "undone" | "reinstatedSinceAndNotJudged" {
  if (status?.S === "cancelled" && latest?.S === cancellationId) return "stand";
  const isReinstated = Date.parse(reinstatedAt?.S ?? "") >= Date.parse(loggedAt);
  return isReinstated ? "reinstatedSinceAndNotJudged" : "undone";
}

function undoneText(cancellation: Cancellation, order: OrderItem | undefined): string {
  const { id, cancelledBy, cancellationId, loggedAt } = cancellation;
  const { status, cancellationId: latest } = order ?? {};
  const request = status?.S === "cancelled" ? ` by request ${latest?.S}` : "";
  const state = order ? `is ${status?.S ?? "without a status"}${request}` : "is missing";
  return printable(
    `Order ${id} ${state}, but ${cancelledBy} cancelled it at ${loggedAt} (${cancellationId})`,
  );
}

function undoneJson(cancellation: Cancellation, order: OrderItem | undefined): string {
  return jsonText({ ...cancellation, order: order ? plainOrder(order) : null });
}
