import { expect, vi } from "vitest";
import {
  type Behaviour,
  type EngineCall,
  respond,
} from "../../helpers/faults/fault-proxy.ts";
import { rejectedAs } from "../../helpers/faults/faults.ts";
import { type FaultyStack, startFaultyStack } from "../../helpers/faults/faulty-stack.ts";

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
  parameter?: string;
  key?: "unknownKey" | "none";
  /** Whatever each call of the function's table meets. */
  fault?: (call: EngineCall) => Behaviour;
  /** How many lines the function logs about it: one, unless it throws, which is logged as well. */
  logs?: number;
}

const denied = rejectedAs("AccessDeniedException");

const deniedMidway = ({ input }: EngineCall): Behaviour => {
  const scan = JSON.parse(input);
  if (scan.ExclusiveStartKey !== undefined) return denied;
  return async ({ forward, response }) =>
    respond(response, await forward(JSON.stringify({ ...scan, Limit: 2 })));
};

const list = { method: "GET", path: "/store/orders", lambda: "ListOrders" };
const cancel = {
  method: "DELETE",
  path: "/store/orders/{orderId}",
  lambda: "CancelOrder",
};
const authorize = { ...list, lambda: "Authorize" };

// In this order: once the gateway remembers the key, the authorizer can't fail for it.
const requests = {
  authorizerFailed: {
    ...authorize,
    fault: () => denied,
    logs: 2,
    responseType: "AUTHORIZER_FAILURE",
  },
  listed: list,
  cancelled: { ...cancel, parameter: "203" },
  rejected: { ...cancel, parameter: "102" },
  repeated: { ...cancel, parameter: "103" },
  notFound: { ...cancel, parameter: "7" },
  malformed: { ...cancel, parameter: "abc" },
  unknownPath: { method: "GET", path: "/{proxy+}" },
  keyMissing: { ...list, lambda: undefined, key: "none", responseType: "UNAUTHORIZED" },
  keyRejected: { ...authorize, key: "unknownKey", responseType: "UNAUTHORIZED" },
  cutOff: { ...list, fault: deniedMidway },
  listFailed: { ...list, fault: () => denied },
  cancelFailed: { ...cancel, parameter: "204", fault: () => denied },
} satisfies Record<string, Request>;

const exchanges = new Map<string, Exchange>();

/** The exchange of each request, with what is made up about it. */
export const recorded = Object.fromEntries(
  Object.keys(requests).map((name) => [
    name,
    (differences: Partial<Exchange> = {}) => {
      const exchange = exchanges.get(name);
      if (!exchange) throw new Error(`Not recorded yet: ${name}`);
      return { ...exchange, ...differences };
    },
  ]),
) as Record<keyof typeof requests, (differences?: Partial<Exchange>) => Exchange>;

/** Makes each request to the service on this machine, with the bundled functions. */
export async function recordExchanges() {
  let fault: Request["fault"];
  await using running = new AsyncDisposableStack();
  const stack = await startFaultyStack(running, (call) => fault?.(call));
  for (const [name, request] of Object.entries<Request>(requests)) {
    fault = request.fault;
    exchanges.set(name, await record(stack, name, request));
  }
}

async function record(
  stack: FaultyStack,
  name: string,
  request: Request,
): Promise<Exchange> {
  const {
    key = "apiKey",
    lambda,
    logs = 1,
    method,
    parameter = "unknown",
    path,
  } = request;
  const before = stack.log.length;
  const authorization = key === "none" ? "" : `Bearer ${stack[key]}`;
  const url = stack.baseUrl + path.replace(/\{.*\}/, parameter);
  const signal = AbortSignal.timeout(60_000);
  const sent = { method, headers: { authorization }, signal };
  const { body, status } = await fetch(url, sent).catch((cause) => {
    throw new Error(`No response to record: ${name}`, { cause });
  });
  // Reading a list that is cut off fails here, after its status.
  await body?.pipeTo(new WritableStream()).catch(() => {});
  // A line about a function's start has no request id.
  const lines = () =>
    stack.log.slice(before).filter((line) => /"requestId":"\w/.test(line));
  const logged = () => expect(lines(), name).toHaveLength(lambda ? logs : 0);
  await vi.waitFor(logged, { timeout: 15_000 });
  return { ...request, status, lines: lines().map((line) => JSON.parse(line)) };
}
