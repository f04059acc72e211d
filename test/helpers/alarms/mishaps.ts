import type { Exchange } from "./exchanges.ts";

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
/** A copy of a request for the other operation. */
export const forCancelling = (exchange: Exchange): Exchange => ({
  ...exchange,
  context: {
    ...exchange.context,
    "$context.httpMethod": "DELETE",
    "$context.resourcePath": "/store/orders/{orderId}",
  },
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
