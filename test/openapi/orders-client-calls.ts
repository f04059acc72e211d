// Makes the calls that come as lines of JSON, and prints the Outcome of each.
import { createInterface } from "node:readline";
import { inspect } from "node:util";
import { ApiError, OrdersClient } from "../../shared/clients/orders-client.ts";

export interface Call {
  baseUrl: string;
  apiKey: string;
  /** In milliseconds. */
  timeout: number;
  /** An order id as JSON, right or wrong; undefined for a list. */
  cancel?: string;
}

/** The end of a call, whose pauses take no time. */
export interface Outcome {
  /** The orders as JSON, `cancelled`, or the name, status and code of the error. */
  result: string;
  /** In seconds; the random part of each is half of the longest. */
  pauses: number[];
  message: string;
  /** All that a log may show of the error. */
  shown: string;
}

const digits = (_key: string, value: unknown) =>
  typeof value === "bigint" ? JSON.rawJSON(String(value)) : value;
const bigints = (_key: string, value: unknown, { source = "" } = {}) =>
  /^-?\d+$/.test(source) ? BigInt(source) : value;

const { setTimeout } = globalThis;
Math.random = () => 0.5;
for await (const line of createInterface(process.stdin)) {
  const { baseUrl, apiKey, timeout, cancel } = JSON.parse(line);
  const outcome: Outcome = { result: "cancelled", pauses: [], message: "", shown: "" };
  const pauseOrStart = (run: () => void, milliseconds: number, ...args: []) => {
    const caller = new Error().stack?.split("\n")[2];
    // The client also gives up after the timeout, and fetch has timers of its own.
    if (milliseconds === timeout || !caller?.includes("orders-client.ts"))
      return setTimeout(run, milliseconds, ...args);
    outcome.pauses.push(milliseconds / 1000);
    return setTimeout(run);
  };
  Object.assign(globalThis, { setTimeout: pauseOrStart });
  try {
    const orders = new OrdersClient(baseUrl, apiKey, { timeout });
    if (cancel === undefined)
      outcome.result = JSON.stringify(await orders.listOrders(), digits);
    else await orders.cancelOrder(JSON.parse(cancel, bigints));
  } catch (error) {
    const { name, message } = error as Error;
    const { status = "", code = "" } = error instanceof ApiError ? error : {};
    outcome.result = `${name} ${status} ${code}`.trim();
    outcome.message = message;
    outcome.shown = inspect(error, { depth: 9, showHidden: true });
  }
  console.log(JSON.stringify(outcome));
}
