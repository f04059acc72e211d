import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import type { OrderItem } from "../../shared/order.ts";
import type { Session } from "./command.ts";
import { startProgress } from "./progress.ts";

interface Reading {
  /** What the progress line says is done, like `Counting`. */
  title: string;
  /** The one in use unless given. */
  table?: string | undefined;
  /** Whether the orders go to standard output, where they would scroll through that line. */
  isPrinted?: boolean;
  signal?: AbortSignal | undefined;
}

/**
 * Reads every order of a table, a page at a time, at the rate of the command line, and shows how
 * far that is.
 */
export async function* readTable(
  session: Session,
  { title, table = session.ordersTable, isPrinted = false, signal }: Reading,
): AsyncIterable<OrderItem[]> {
  const calls = session.calls("reads");
  const isShown = process.stderr.isTTY && !(isPrinted && process.stdout.isTTY);
  const total = isShown ? await approximateCount(session, table) : 0;
  const progress = startProgress(title, "orders", total, isShown);
  let read = 0;
  try {
    for await (const page of calls.scan(table, signal)) {
      read += page.length;
      progress.update(read);
      yield page;
    }
  } finally {
    progress.stop();
  }
}

/** How many orders a table had, up to six hours ago; 0 for an operator who may not ask. */
async function approximateCount({ client }: Session, table: string): Promise<number> {
  const describe = new DescribeTableCommand({ TableName: table });
  const described = await client.send(describe).catch(() => undefined);
  return described?.Table?.ItemCount ?? 0;
}
