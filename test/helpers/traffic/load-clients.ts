import { Agent, request } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { engineClient } from "../../../infra/local/engine/client.ts";
import type { LocalStack } from "../../../infra/local/local-stack.ts";
import { seedOrders } from "../../../infra/orders-file/seed-orders.ts";
import { errorBody } from "../../../shared/errors.ts";

export type Operation = "list" | "cancel";

const firstId = 1_000_000;
/** How many clients in a row try to cancel the same order. */
const rivals = 4;
/** Every so many requests one is a list. */
const listEvery = 5;

/** Clients of a stack, each on a connection of its own, that list and cancel at once and check every answer. */
export class LoadClients {
  /** What was wrong with the answers. */
  readonly wrong: string[] = [];
  readonly #stack: LocalStack;
  readonly #agent: Agent;
  readonly #orders: number;
  readonly #cancelled = new Set<number>();
  readonly #refused = new Set<number>();
  #requests = 0;
  #cancels = 0;

  private constructor(stack: LocalStack, connections: number, orders: number) {
    this.#stack = stack;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
    this.#orders = orders;
  }

  /** Fills the stack's table with orders to cancel. */
  static async connect(stack: LocalStack, connections: number, orders: number): Promise<LoadClients> {
    const client = engineClient(stack.dynamodbEndpoint);
    const ids = Array.from({ length: orders }, (_, index) => String(firstId + index));
    const rows = ids.map((id) => ({ id: { N: id }, petId: { N: "1" }, status: { S: "pending" } }));
    await seedOrders(client, stack.tables.orders, Readable.from(rows), new AbortController().signal);
    client.destroy();
    return new LoadClients(stack, connections, orders);
  }

  /** Sends one request, checks its answer, and tells what it was. */
  async next(): Promise<Operation> {
    this.#requests += 1;
    const operation = this.#requests % listEvery === 0 ? "list" : "cancel";
    try {
      await (operation === "list" ? this.#list() : this.#cancel());
    } catch (error) {
      this.wrong.push(`No answer: ${error}`);
    }
    return operation;
  }

  /** Checks what only shows at the end, and closes the connections. */
  close(): void {
    for (const id of this.#refused.difference(this.#cancelled)) {
      this.wrong.push(`Nobody was told to have cancelled ${id}, which was refused as cancelled`);
    }
    this.#agent.destroy();
  }

  async #list(): Promise<void> {
    const { status, body } = await this.#send("GET", "/store/orders");
    const ids = new Set(body.match(/"id":1\d{6}\b/g));
    if (status !== 200 || !Array.isArray(JSON.parse(body)) || ids.size !== this.#orders) {
      this.wrong.push(`A list of ${ids.size} instead of ${this.#orders}: ${status} ${body.slice(0, 200)}`);
    }
  }

  async #cancel(): Promise<void> {
    const id = firstId + (Math.floor(this.#cancels++ / rivals) % this.#orders);
    const settled = this.#cancelled.has(id) || this.#refused.has(id);
    const { status, body } = await this.#send("DELETE", `/store/orders/${id}`);
    if (status === 409 && body === errorBody("order_already_cancelled")) this.#refused.add(id);
    else if (status !== 204 || body !== "") this.wrong.push(`Cancelling ${id}: ${status} ${body}`);
    else if (settled || this.#cancelled.has(id)) this.wrong.push(`A second 204 for ${id}`);
    else this.#cancelled.add(id);
  }

  async #send(method: string, path: string): Promise<{ status: number | undefined; body: string }> {
    const { baseUrl, apiKey } = this.#stack;
    const headers = { authorization: `Bearer ${apiKey}` };
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined; body: string }>();
    const sent = request(`${baseUrl}${path}`, { method, headers, agent: this.#agent }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode, body }), reject);
    });
    sent.on("error", reject).end();
    return promise;
  }
}
