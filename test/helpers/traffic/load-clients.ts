import { Agent, request } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { engineClient } from "../../../infra/local/engine/engine.ts";
import { seedOrders } from "../../../infra/local/engine/seed-orders.ts";
import type { LocalStack } from "../../../infra/local/local-stack.ts";
import { errorBody } from "../../../shared/errors.ts";
import { type TableWriter, tableWriter } from "../table-writer.ts";
import { ResponseCounts } from "./response-counts.ts";

export type Operation = "listOrders" | "cancelOrder";

/** An order that clients contest: `rivals` requests try to cancel it, then it is made pending again. */
interface Contest {
  id: number;
  sent: number;
  finished: number;
  cancelled: number;
  conflicts: number;
}

const firstId = 1_000_000;
const rivals = 4;
/** One in so many requests is a list. */
const listEvery = 5;

/** Clients of a stack, each on a connection of its own, that list and cancel at once and check every response. */
export class LoadClients {
  /** A line for each response that was wrong. */
  readonly wrong: string[] = [];
  readonly responses = new ResponseCounts();
  readonly #stack: LocalStack;
  readonly #agent: Agent;
  readonly #client: DynamoDBClient;
  readonly #writer: TableWriter;
  /** The API keys of those who contest an order, whose ids are `rival_0` and on. */
  readonly #keys: string[] = [];
  readonly #orders: number;
  /** The first one is contested next. */
  readonly #pending: Contest[];
  #requests = 0;

  private constructor(stack: LocalStack, connections: number, orders: number) {
    this.#stack = stack;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
    this.#client = engineClient(stack.dynamodbEndpoint);
    this.#writer = tableWriter(this.#client, stack.tables);
    this.#orders = orders;
    this.#pending = Array.from({ length: orders }, (_, index) => contest(firstId + index));
  }

  /** Fills the stack's table with orders to cancel, more of them than connections. */
  static async connect(stack: LocalStack, connections: number, orders: number): Promise<LoadClients> {
    const clients = new LoadClients(stack, connections, orders);
    const items = clients.#pending.map(({ id }) => pendingOrder(id));
    await seedOrders(clients.#client, stack.tables.orders, Readable.from(items), new AbortController().signal);
    for (let rival = 0; rival < rivals; rival += 1) {
      clients.#keys.push(await clients.#writer.putKey({ keyId: `rival_${rival}` }));
    }
    return clients;
  }

  /** Sends one request, checks its response, and resolves with the operation it called. */
  async next(): Promise<Operation> {
    this.#requests += 1;
    const operation = this.#requests % listEvery === 0 ? "listOrders" : "cancelOrder";
    try {
      await (operation === "listOrders" ? this.#list() : this.#cancel());
    } catch (error) {
      this.wrong.push(`No response: ${error}`);
    }
    return operation;
  }

  /** Closes the connections. */
  close(): void {
    this.#client.destroy();
    this.#agent.destroy();
  }

  async #list(): Promise<void> {
    const { status, body } = await this.#send("listOrders", "GET", "/store/orders");
    const ids = new Set(body.match(/"id":1\d{6}\b/g));
    if (status !== 200 || !Array.isArray(JSON.parse(body)) || ids.size !== this.#orders) {
      this.wrong.push(`A list of ${ids.size} instead of ${this.#orders}: ${status} ${body.slice(0, 200)}`);
    }
  }

  async #cancel(): Promise<void> {
    const [order] = this.#pending;
    if (order === undefined) throw new Error("There are more connections than orders");
    const rival = order.sent;
    order.sent += 1;
    if (order.sent === rivals) this.#pending.shift();
    try {
      const path = `/store/orders/${order.id}`;
      const { status, body } = await this.#send("cancelOrder", "DELETE", path, this.#keys[rival]);
      if (status === 204 && body === "") order.cancelled += 1;
      else if (status === 409 && body === errorBody("order_already_cancelled")) order.conflicts += 1;
      else this.wrong.push(`Cancelling ${order.id}: ${status} ${body}`);
    } finally {
      order.finished += 1;
    }
    if (order.finished === rivals) await this.#settle(order);
  }

  /** Checks that one of those who contested an order has cancelled it, and makes it pending again in the table. */
  async #settle({ id, cancelled, conflicts }: Contest): Promise<void> {
    if (cancelled !== 1 || conflicts !== rivals - 1) {
      this.wrong.push(`Order ${id} was cancelled ${cancelled} times, and ${conflicts} of ${rivals} got the 409`);
    }
    await this.#writer.putOrder(pendingOrder(id));
    this.#pending.push(contest(id));
  }

  async #send(
    operation: Operation,
    method: string,
    path: string,
    apiKey = this.#stack.apiKey,
  ): Promise<{ status: number; body: string }> {
    const { baseUrl } = this.#stack;
    const headers = { authorization: `Bearer ${apiKey}` };
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
    const sent = request(`${baseUrl}${path}`, { method, headers, agent: this.#agent }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    sent.on("error", reject).end();
    const response = await promise;
    this.responses.add(operation, response);
    return response;
  }
}

function contest(id: number): Contest {
  return { id, sent: 0, finished: 0, cancelled: 0, conflicts: 0 };
}

function pendingOrder(id: number) {
  return { id: { N: String(id) }, petId: { N: "1" }, status: { S: "pending" } };
}
