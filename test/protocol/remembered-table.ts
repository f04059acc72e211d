import {
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import { type Engine, engineClient, startEngine } from "../../infra/local/engine/engine.ts";
import type { OrderItem } from "../../shared/order.ts";
import { createTable } from "../helpers/create-table.ts";
import type { OrderState } from "./contract.ts";
import type { Request, Response } from "./recorded-client.ts";

export const tableName = "orders";
export const orderId = 10n;
const id = { N: orderId.toString() };

/** The order as it can be before anyone does anything to it. */
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

/** @param item undefined when the table does not have the order. */
export function stateOf(item: OrderItem | undefined): OrderState {
  if (item === undefined) return "absent";
  const status = item["status"]?.S;
  if (status === "cancelled") return `cancelled by ${item["cancelledBy"]?.S}`;
  return status === "pending" || status === "shipped" ? status : "not pending";
}

// The engine wants a well-formed signature, and does not verify it.
const signature = {
  authorization:
    "AWS4-HMAC-SHA256 Credential=local/20261121/eu-central-1/dynamodb/aws4_request, " +
    "SignedHeaders=host, Signature=0",
  "x-amz-date": "20261121T120000Z",
};

/** The effect of a request. */
interface Applied {
  /** The order afterwards; undefined when the table does not have it. */
  item: OrderItem | undefined;
  response: Response;
}

/**
 * A table with one order. It is no model of DynamoDB, but asks the real engine, once for each item
 * and request, and remembers the effect. Items and requests are as on the wire, so nothing of them
 * is left out.
 */
export class RememberedTable {
  readonly #engine: Engine;
  readonly #client: DynamoDBClient;
  readonly #known = new Map<string, Applied>();

  private constructor(engine: Engine, client: DynamoDBClient) {
    this.#engine = engine;
    this.#client = client;
  }

  static async start(): Promise<RememberedTable> {
    const engine = await startEngine();
    const client = engineClient(engine.endpoint);
    await createTable(client, "orders", tableName);
    return new RememberedTable(engine, client);
  }

  async stop(): Promise<void> {
    this.#client.destroy();
    await this.#engine.stop();
  }

  /** Carries out a request when the order is this item; undefined for none. */
  async apply(item: OrderItem | undefined, request: Request): Promise<Applied> {
    const key = JSON.stringify([item, request]);
    const remembered = this.#known.get(key);
    if (remembered !== undefined) return remembered;
    const order = { TableName: tableName, Key: { id } };
    if (item === undefined) await this.#client.send(new DeleteItemCommand(order));
    else await this.#client.send(new PutItemCommand({ TableName: tableName, Item: item }));
    const response = await this.#send(request);
    const { Item } = await this.#client.send(new GetItemCommand(order));
    const after = Item === undefined ? undefined : JSON.parse(sorted(JSON.stringify(Item)));
    const applied = { item: after, response };
    this.#known.set(key, applied);
    return applied;
  }

  async #send({ target, body }: Request): Promise<Response> {
    const response = await fetch(this.#engine.endpoint, {
      method: "POST",
      headers: {
        ...signature,
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": target,
      },
      body,
    });
    return { status: response.status, body: sorted(await response.text()) };
  }
}

/** The engine returns attributes in any order. Sorted, the same item is the same text. */
function sorted(json: string): string {
  const inOrder = (_key: string, value: unknown): unknown =>
    value instanceof Object && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort())
      : value;
  return JSON.stringify(JSON.parse(json, inOrder));
}
