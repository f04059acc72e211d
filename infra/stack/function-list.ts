import type { LogEvent } from "../../shared/log.ts";

/** A Lambda function of the service, and what it may do. */
export interface FunctionEntry {
  /**
   * Its construct's id. The logical ids of everything that belongs to the function begin with it.
   */
  id: string;
  /** The handler's file in `functions/`. */
  file: string;
  /** Long enough for every attempt at its DynamoDB call, and to respond (see `callLimits`). */
  timeoutSeconds: number;
  /** In megabytes. It also sets the share of a CPU. */
  memorySize: number;
  /** The one table that it uses. */
  table: ServiceTable;
  /** The one action of DynamoDB that it may take on it. Besides, it writes only its own log. */
  action: string;
  /** The log events of its failures. */
  failures: LogEvent[];
  /** The operation that it serves; the authorizer serves none. */
  operation?: Operation;
}

/** A table of the service. */
export type ServiceTable = "orders" | "apiKeys";

/** An operation of `shared/openapi.yaml`. */
export interface Operation {
  method: "DELETE" | "GET";
  path: `/${string}`;
  /** Whether its responses are streamed, which lifts the limit of 6 MB. */
  streamed?: boolean;
}

/** Every function of the service. Whatever exists once per function is made from this list. */
export const functionList = {
  listOrders: {
    id: "ListOrders",
    file: "list-orders.ts",
    timeoutSeconds: 900,
    memorySize: 1024,
    table: "orders",
    action: "Scan",
    failures: ["list_failed", "list_cut_off"],
    operation: { method: "GET", path: "/store/orders", streamed: true },
  },
  cancelOrder: {
    id: "CancelOrder",
    file: "cancel-order.ts",
    timeoutSeconds: 10,
    memorySize: 512,
    table: "orders",
    action: "UpdateItem",
    failures: ["cancel_failed"],
    operation: { method: "DELETE", path: "/store/orders/{orderId}" },
  },
  authorize: {
    id: "Authorize",
    file: "authorize.ts",
    timeoutSeconds: 5,
    memorySize: 512,
    table: "apiKeys",
    action: "GetItem",
    failures: ["authorize_failed"],
  },
} satisfies Record<string, FunctionEntry>;

export type FunctionName = keyof typeof functionList;

/** The functions that serve an operation, named like it. */
export type OperationName = Exclude<FunctionName, "authorize">;

/** Every operation of the API. */
export const operations = Object.entries<FunctionEntry>(functionList).flatMap(
  ([name, { operation }]) =>
    operation ? [{ ...operation, name: name as OperationName }] : [],
);

/** One value for each function, by its name. */
export type PerFunction<Value> = Record<FunctionName, Value>;

/** Makes one value for each function, in the order of the list. */
export function perFunction<Value>(
  make: (name: FunctionName, entry: FunctionEntry) => Value,
): PerFunction<Value> {
  const values = Object.entries<FunctionEntry>(functionList).map(([name, entry]) => [
    name,
    make(name as FunctionName, entry),
  ]);
  return Object.fromEntries(values);
}
