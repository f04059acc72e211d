import { paginateScan } from "@aws-sdk/client-dynamodb";
import type { OrderItem } from "../../shared/order.ts";
import { formatOrderLine } from "../orders-file/order-line.ts";
import type { Target } from "./target.ts";

/** How many orders an export has written, and how many it could not, so far. */
export interface Exported {
  orders: number;
  leftOut: number;
}

/**
 * Every order of the table as lines that an import reads, a page of the table at a time; `exported` counts them.
 *
 * @param onLeftOut takes one line about each order that is none as the service writes them: as a line of the file it
 *   would be another order.
 */
export async function* exportOrders(
  { client, ordersTable }: Target,
  exported: Exported,
  onLeftOut: (why: string) => void,
): AsyncGenerator<string, void, void> {
  for await (const { Items = [] } of paginateScan({ client }, { TableName: ordersTable, ConsistentRead: true })) {
    let lines = "";
    for (const row of Items) {
      const line = formatted(row, onLeftOut);
      if (line === undefined) exported.leftOut++;
      else {
        exported.orders++;
        lines += `${line}\n`;
      }
    }
    yield lines;
  }
}

function formatted(row: OrderItem, onLeftOut: (why: string) => void): string | undefined {
  try {
    return formatOrderLine(row);
  } catch (error) {
    onLeftOut(`Order ${row["id"]?.N} left out: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}
