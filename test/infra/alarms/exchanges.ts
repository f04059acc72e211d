import { expect, vi } from "vitest";
import {
  type Behaviour,
  type EngineCall,
  respond,
} from "../../helpers/faults/fault-proxy.ts";
import { rejectedAs } from "../../helpers/faults/faults.ts";
import { type FaultyStack, startFaultyStack } from "../../helpers/faults/faulty-stack.ts";

/** A request, its response, and the lines that it caused. */
export interface Exchange {
  method: string;
  /** The path of its resource, like `/store/orders/{orderId}`. */
  path: string;
  status: number;
  /** The type of the gateway's own response, when no function responds. */
  responseType?: string | undefined;
  /** The function that ran, and the lines it logged, parsed. */
  lambda?: string | undefined;
  lines: object[];
  /** How long the function ran, 20 ms unless given. */
  milliseconds?: number;
}

interface Request extends Omit<Exchange, "status" | "lines"> {
  orderId?: string;
  key?: "unknown" | "none";
  /** Whatever each call of the function's table meets. */
  fault?: (call: EngineCall) => Behaviour;
  /** A word of the line that the function logs about it. */
  logs?: string;
}

const denied = rejectedAs("AccessDeniedException");

/** Lists in pages of two orders, the second of which is denied. */
const deniedMidway = ({ input }: EngineCall): Behaviour => {
  const scan = JSON.parse(input);
  if (scan.ExclusiveStartKey !== undefined) return denied;
  return async ({ forward, response }) =>
    respond(response, await forward(JSON.stringify({ ...scan, Limit: 2 })));
};

const list = { method: "GET", path: "/store/orders", lambda: "ListOrders" };
const cancel = { method: "DELETE", path: "/store/orders/{orderId}", lambda: "CancelOrder" };
const authorize = { method: "GET", path: "/store/orders", lambda: "Authorize" };

/**
 * One request of each kind, in this order: once the gateway remembers the key, the authorizer can't
 * fail for it.
 */
const requests = {
  authorizerFailed: {
    ...authorize,
    fault: () => denied,
    logs: "authorize_failed",
    responseType: "AUTHORIZER_FAILURE",
  },
  listed: { ...list, logs: "orders_listed" },
  cancelled: { ...cancel, orderId: "203", logs: "order_cancelled" },
  rejected: { ...cancel, orderId: "102", logs: "cancel_rejected" },
  repeated: { ...cancel, orderId: "103", logs: "cancel_rejected" },
  notFound: { ...cancel, orderId: "7", logs: "cancel_rejected" },
  malformed: { ...cancel, orderId: "abc", logs: "cancel_rejected" },
  unknownPath: { method: "GET", path: "/{proxy+}" },
  keyMissing: { ...list, lambda: undefined, key: "none", responseType: "UNAUTHORIZED" },
  keyRejected: {
    ...authorize,
    key: "unknown",
    logs: "Unauthorized",
    responseType: "UNAUTHORIZED",
  },
  cutOff: { ...list, fault: deniedMidway, logs: "list_cut_off" },
  listFailed: { ...list, fault: () => denied, logs: "list_failed" },
  cancelFailed: { ...cancel, orderId: "204", fault: () => denied, logs: "cancel_failed" },
} satisfies Record<string, Request>;

/** Makes each request to the service on this machine, over HTTP and to the bundled functions. */
export async function recordExchanges() {
  let fault: Request["fault"];
  const stack = await startFaultyStack((call) => fault?.(call));
  const recorded: [name: string, exchange: Exchange][] = [];
  try {
    for (const [name, request] of Object.entries<Request>(requests)) {
      fault = request.fault;
      recorded.push([name, await record(stack, request)]);
    }
  } finally {
    await stack.stop();
  }
  return Object.fromEntries(recorded) as Record<keyof typeof requests, Exchange>;
}

async function record(stack: FaultyStack, request: Request): Promise<Exchange> {
  const { key, logs = "", method, orderId = "", path } = request;
  const before = stack.log.length;
  const token = key === "unknown" ? stack.unknownKey : stack.apiKey;
  const headers: Record<string, string> =
    key === "none" ? {} : { authorization: `Bearer ${token}` };
  const url =
    stack.baseUrl + path.replace("{orderId}", orderId).replace("{proxy+}", "unknown");
  const { body, status } = await fetch(url, { method, headers });
  // Reading a list that is cut off fails here, after its status.
  await body?.pipeTo(new WritableStream()).catch(() => {});
  const lines = () => stack.log.slice(before).filter((line) => line.startsWith("{"));
  const logged = () =>
    expect(lines().join("\n"), `the log of ${method} ${path}`).toContain(logs);
  await vi.waitFor(logged, { timeout: 15_000 });
  return { ...request, status, lines: lines().map((line) => JSON.parse(line)) };
}
