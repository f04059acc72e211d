import { z } from "zod";
import type { LogEvent } from "../../../shared/log.ts";
import { isDateTime, isInt64, type OrderItem } from "../../../shared/order.ts";
import { CommandError } from "../terminal/errors.ts";
import { inputLines, inputName } from "../terminal/input.ts";
import { counted, countsText } from "../terminal/text.ts";
import { plainOrder } from "./read-orders.ts";
import type { Result, Session } from "./session.ts";
import { orderKey } from "./table-calls.ts";
import { workThrough } from "./work-through.ts";

const event = "order_cancelled" satisfies LogEvent;

/** A line about a cancellation that the service has acknowledged. */
const loggedCancellation = z
  .object({
    timestamp: z.string().refine(isDateTime),
    requestId: z.string().min(1),
    message: z.object({ keyId: z.string().min(1), orderId: z.string().refine(isInt64) }),
  })
  .transform(({ timestamp, requestId, message }) => ({
    id: BigInt(message.orderId),
    cancelledBy: message.keyId,
    cancellationId: requestId,
    loggedAt: timestamp,
  }));
type Cancellation = z.infer<typeof loggedCancellation>;

/** Prints a line for each cancellation of a log that the table in use doesn't show. */
export async function auditCancellations(
  session: Session,
  { log }: { log: string },
): Promise<Result> {
  const counts = { stand: 0, undone: 0, reinstatedSinceAndNotJudged: 0 };
  const { done, reason } = await workThrough(session, {
    title: "Auditing",
    unit: "cancellations",
    items: readCancellations(log),
    keyOf: ({ id }) => orderKey(String(id)),
    async *work(cancellation, order) {
      const outcome = outcomeOf(cancellation, order);
      if (outcome === "undone")
        session.print(undoneText(cancellation, order), {
          ...cancellation,
          order: order ? plainOrder(order) : null,
        });
      yield outcome;
    },
    counts,
  });
  if (reason === undefined && done === 0)
    throw new CommandError(`${inputName(log)} has no cancellations`);
  return {
    notes: [done > 0 && `${counted(done, "cancellation")}: ${countsText(counts)}`],
    reason,
    rejected: counts.undone > 0,
  };
}

/**
 * Reads the cancellations of a log, which may have other lines.
 *
 * @throws CommandError when a cancellation's line isn't whole.
 */
async function* readCancellations(log: string) {
  for await (const { text, place } of inputLines(log)) {
    if (!text.includes(event)) continue;
    try {
      yield loggedCancellation.parse(JSON.parse(text));
    } catch {
      throw new CommandError(`${place}: not a whole line of the function's log`);
    }
  }
}

/** Whether a cancellation stands, by the order as it is now; not judged if reinstated since. */
function outcomeOf(
  { cancellationId, loggedAt }: Cancellation,
  { status, cancellationId: latest, reinstatedAt }: OrderItem = {},
) {
  if (status?.S === "cancelled" && latest?.S === cancellationId) return "stand";
  const isReinstated = Date.parse(reinstatedAt?.S ?? "") >= Date.parse(loggedAt);
  return isReinstated ? "reinstatedSinceAndNotJudged" : "undone";
}

function undoneText(cancellation: Cancellation, order: OrderItem | undefined) {
  const { id, cancelledBy, cancellationId, loggedAt } = cancellation;
  const { status, cancellationId: latest } = order ?? {};
  const request = status?.S === "cancelled" ? ` by request ${latest?.S}` : "";
  const state = order ? `is ${status?.S ?? "without a status"}${request}` : "is missing";
  return `Order ${id} ${state}, but ${cancelledBy} cancelled it at ${loggedAt} (${cancellationId})`;
}
