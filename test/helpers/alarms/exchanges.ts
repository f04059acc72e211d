import { vi } from "vitest";
import type { Operation } from "../../../infra/stack/function-list.ts";
import { type Behaviour, type EngineCall, respond } from "../faults/fault-proxy.ts";
import { rejectedAs } from "../faults/faults.ts";
import { type FaultyStack, startFaultyStack } from "../faults/faulty-stack.ts";

/** A request that was really made, with its response and the lines that it caused. */
export interface Exchange {
  /** By the names that the access log's format uses, like `$context.status`. */
  context: Record<string, string>;
  status: number;
  /** The functions that ran, each with the lines it logged, parsed. */
  ran: Record<string, unknown[]>;
}

interface Request {
  method: string;
  /** As the template has it. */
  resource: string;
  path: string;
  /** Without one, none is sent. */
  key: string | undefined;
  /** The function that logs, and the `event` or `errorMessage` of its line. Without it, no function runs. */
  logs?: [lambda: string, text: string];
  /** When no function responds: the type of the gateway's own response. */
  responseType?: string;
}

const denied = rejectedAs("AccessDeniedException");

/** Lists in pages of two orders, the second of which is denied. */
const deniedMidway = ({ input }: EngineCall): Behaviour => {
  const scan = JSON.parse(input);
  if (scan.ExclusiveStartKey !== undefined) return denied;
  return async ({ forward, response }) => respond(response, await forward(JSON.stringify({ ...scan, Limit: 2 })));
};

/** Makes one request of each kind to the service on this machine, over HTTP and to the bundled functions. */
export async function recordExchanges() {
  let fault: ((call: EngineCall) => Behaviour) | undefined;
  const stack = await startFaultyStack((call) => fault?.(call));
  const list = { method: "GET", resource: "/store/orders", path: "/store/orders", key: stack.apiKey };
  const cancel = { method: "DELETE", resource: "/store/orders/{orderId}", key: stack.apiKey };
  try {
    fault = () => denied;
    const authorizerFailed = await record(stack, {
      ...list,
      logs: ["Authorize", "authorize_failed"],
      responseType: "AUTHORIZER_FAILURE",
    });
    fault = undefined;
    const recorded = {
      authorizerFailed,
      listed: await record(stack, { ...list, logs: ["ListOrders", "orders_listed"] }),
      cancelled: await record(stack, {
        ...cancel,
        path: "/store/orders/203",
        logs: ["CancelOrder", "order_cancelled"],
      }),
      rejected: await record(stack, { ...cancel, path: "/store/orders/102", logs: ["CancelOrder", "cancel_rejected"] }),
      notFound: await record(stack, { ...cancel, path: "/store/orders/7", logs: ["CancelOrder", "cancel_rejected"] }),
      unknownPath: await record(stack, { ...list, resource: "/{proxy+}", path: "/unknown" }),
      keyMissing: await record(stack, { ...list, key: undefined, responseType: "UNAUTHORIZED" }),
      keyRejected: await record(stack, {
        ...list,
        key: stack.unknownKey,
        logs: ["Authorize", "Unauthorized"],
        responseType: "UNAUTHORIZED",
      }),
    };
    fault = deniedMidway;
    const cutOff = await record(stack, { ...list, logs: ["ListOrders", "list_cut_off"] });
    fault = () => denied;
    const listFailed = await record(stack, { ...list, logs: ["ListOrders", "list_failed"] });
    const path = "/store/orders/204";
    const cancelFailed = await record(stack, { ...cancel, path, logs: ["CancelOrder", "cancel_failed"] });
    return { ...recorded, cutOff, listFailed, cancelFailed };
  } finally {
    await stack.stop();
  }
}

async function record(stack: FaultyStack, request: Request): Promise<Exchange> {
  const { key, logs, method, path, resource, responseType } = request;
  const before = stack.log.length;
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const response = await fetch(stack.baseUrl + path, { method, headers });
  // Reading a list that is cut off fails here, after its status.
  const body = await response.text().catch(() => "");
  const lines = () => stack.log.slice(before).filter((line) => line.startsWith("{"));
  if (logs) await vi.waitUntil(() => lines().some((line) => line.includes(`"${logs[1]}"`)), { timeout: 60_000 });
  return {
    context: {
      "$context.requestId": response.headers.get("x-amzn-requestid") ?? "-",
      "$context.httpMethod": method,
      "$context.resourcePath": resource,
      "$context.status": String(response.status),
      "$context.responseLength": String(body.length),
      ...(responseType && { "$context.error.responseType": responseType }),
    },
    status: response.status,
    ran: logs ? { [logs[0]]: lines().map((line) => JSON.parse(line)) } : {},
  };
}

// Lambda's own lines, which only Lambda writes (Lambda developer guide, "Telemetry API event schema").
const platform = (type: string, record: object) => ({ time: "2026-11-21T12:00:00.000Z", type, record });
export const report = (status: string, errorType?: string) =>
  platform("platform.report", { requestId: "1", metrics: { durationMs: 20 }, status, errorType });

/** A copy of a request whose function Lambda ended: nothing but these lines was logged. */
export const ended = (exchange: Exchange, lambda: string, lines: unknown[], status = 500): Exchange => ({
  status,
  context: { ...exchange.context, "$context.status": String(status) },
  ran: { [lambda]: lines },
});
/** A copy of a request whose function Lambda turned away. */
export const turnedAway = (exchange: Exchange): Exchange => ({
  status: 500,
  context: { ...exchange.context, "$context.status": "500" },
  ran: {},
});

/** A copy of a request whose function responded with something that the gateway can't use. */
export const unusable = ({ context, ran }: Exchange, responseType = "API_CONFIGURATION_ERROR"): Exchange => ({
  status: 502,
  context: { ...context, "$context.status": "502", "$context.error.responseType": responseType },
  ran,
});
/** A copy of a request for another operation. */
export const forOperation = (exchange: Exchange, { method, path }: Operation): Exchange => ({
  ...exchange,
  context: { ...exchange.context, "$context.httpMethod": method, "$context.resourcePath": path },
});
export const throttledByGateway = ({ context }: Exchange): Exchange => ({
  status: 429,
  context: { ...context, "$context.status": "429", "$context.error.responseType": "THROTTLED" },
  ran: {},
});

export const crashedAtStart = [
  platform("platform.initReport", { phase: "init", status: "error", errorType: "Runtime.ExitError" }),
  platform("platform.initReport", { phase: "invoke", status: "error", errorType: "Runtime.ExitError" }),
  report("error", "Runtime.ExitError"),
];
