import {
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import { startEngine } from "../../infra/tools/local/engine/engine.ts";
import { engineClient } from "../../infra/tools/running-stacks/engine-client.ts";
import type { OrderItem } from "../../shared/order.ts";
import { createTable } from "../helpers/create-table.ts";
import { unsignedCall } from "../helpers/unsigned-call.ts";
import type { OrderState } from "./contract.ts";
import type { Request } from "./recorded-client.ts";
import { remembering } from "./remembering.ts";

export const tableName = "orders";
export const orderId = 10n;
const id = { N: orderId.toString() };

export const starts: Record<string, OrderItem | undefined> = {
  pending: { id, status: { S: "pending" } },
  absent: undefined,
  shipped: { id, status: { S: "shipped" }, shipDate: { S: "2026-11-20T09:00:00.000Z" } },
  cancelled: {
    id,
    status: { S: "cancelled" },
    cancelledAt: { S: "2026-11-20T09:00:00.000Z" },
    cancelledBy: { S: "another client" },
    cancellationId: { S: "invocation of another client" },
  },
  "something else": { id, status: { S: "lost" } },
};

export function stateOf(item: OrderItem | undefined): OrderState {
  if (item === undefined) return "absent";
  const status = item["status"]?.S;
  if (status === "cancelled") return `cancelled by ${item["cancelledBy"]?.S}`;
  return status === "pending" || status === "shipped" ? status : "not pending";
}

export type RememberedTable = Awaited<ReturnType<typeof startRememberedTable>>;

/**
 * Starts a table with one order: no model of DynamoDB, but the real engine, asked once for each item
 * and request as on the wire.
 */
export async function startRememberedTable(running: AsyncDisposableStack) {
  const engine = await startEngine();
  running.defer(engine.stop);
  const client = engineClient(engine.endpoint);
  running.defer(() => client.destroy());
  await createTable(client, "orders", tableName);
  const order = { TableName: tableName, Key: { id } };

  return {
    /** Carries out a request when the order is this item. */
    apply: remembering(async (Item: OrderItem | undefined, request: Request) => {
      if (Item === undefined) await client.send(new DeleteItemCommand(order));
      else await client.send(new PutItemCommand({ TableName: tableName, Item }));
      const response = await send(engine.endpoint, request);
      const { Item: after } = await client.send(new GetItemCommand(order));
      return { item: after && sorted(JSON.stringify(after)), response };
    }),
  };
}

async function send(endpoint: string, { target, body }: Request) {
  const response = await unsignedCall(endpoint, target, body);
  return { status: response.status, body: JSON.stringify(sorted(await response.text())) };
}

/** Parses JSON. The engine returns attributes in any order; sorted, the same item is the same text. */
function sorted(json: string) {
  return JSON.parse(json, (_key, value: unknown) =>
    value instanceof Object && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort())
      : value,
  );
}
