import { errors, ServiceError } from "../../shared/errors.ts";
import { cancelOrder } from "../../shared/orders-table.ts";
import { shipOrder } from "../helpers/ship-order.ts";
import type { Operation } from "./contract.ts";
import type { Connect, Response, TableClient } from "./recorded-client.ts";
import { orderId, tableName } from "./remembered-table.ts";

/** As many as the function that cancels makes. */
export const maxAttempts = 3;

/** A possible fate of one attempt, between the client and the table. */
export interface Fate {
  name: string;
  /** When the table carries it out, if it does. */
  applied: "now" | "after the next attempt" | "never";
  /** The response that the client sees instead of the table's. */
  seen?: Response;
}

const serverError = exception(500, "com.amazonaws.dynamodb.v20120810#InternalServerError");
const throttled = exception(
  400,
  "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
);

const fates: readonly Fate[] = [
  { name: "delivered", applied: "now" },
  { name: "lost on its way", applied: "never", seen: "none" },
  { name: "applied, its response lost", applied: "now", seen: "none" },
  { name: "applied, but 500", applied: "now", seen: serverError },
  { name: "throttled", applied: "never", seen: throttled },
  { name: "delivered late", applied: "after the next attempt", seen: "none" },
];

function exception(status: number, type: string): Response {
  return { status, body: JSON.stringify({ __type: type, message: "injected by a test" }) };
}

/** The knowledge of one invocation of the function. */
export interface Invocation {
  keyId: string;
  askedAt: Date;
  /** Lambda's own id of the invocation. */
  awsRequestId: string;
  /** The gateway's id of the request, which a client can choose. */
  gatewayRequestId: string;
}

/** Code that cancels the order: the service's own, or one with a planted bug. */
export type Cancel = (connect: Connect, invocation: Invocation) => Promise<void>;

/** Someone who does something to the order. */
export interface Actor {
  name: string;
  operation: Operation;
  /** The possible fates of its attempts. */
  fates: readonly Fate[];
  /** Its code when it begins at a given time. */
  code(askedAt: Date): TableClient;
}

/** Cancels as the service's handler does. */
export const cancel: Cancel = (connect, { keyId, askedAt, awsRequestId }) =>
  cancelOrder(connect(maxAttempts), tableName, {
    orderId,
    cancelledBy: keyId,
    cancelledAt: askedAt,
    cancellationId: awsRequestId,
  });

/** Two clients that cancel with this code, and choose the same id for their requests. */
export function cancellers(code: Cancel): [Actor, Actor] {
  const canceller = (name: string): Actor => ({
    name,
    operation: { kind: "cancel", by: name },
    fates,
    code: (askedAt) => async (connect) => {
      const ids = { awsRequestId: `invocation of ${name}`, gatewayRequestId: "chosen by a client" };
      try {
        await code(connect, { keyId: name, askedAt, ...ids });
        return "204";
      } catch (error) {
        return error instanceof ServiceError
          ? `${errors[error.code].status} ${error.code}`
          : "500 internal_error";
      }
    },
  });
  return [canceller("A"), canceller("B")];
}

/** When the shipper ships. */
export const shippedAt = new Date("2026-11-21T12:00:00Z");

/**
 * Ships the order if it is pending. It is not part of the service: all that counts is when its
 * write arrives, so it has one attempt, which does.
 */
export const shipper: Actor = {
  name: "the shipper",
  operation: { kind: "ship" },
  fates: fates.filter(({ name }) => name === "delivered"),
  code: () => async (connect) => {
    return (await shipOrder(connect(1), tableName, orderId, shippedAt)) ? "shipped" : "not shipped";
  },
};
