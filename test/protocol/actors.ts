import { createClient } from "../../shared/dynamodb.ts";
import { errors } from "../../shared/errors.ts";
import { bundled } from "../helpers/bundled/bundled.ts";
import { shipOrder } from "../resilience/ship-order.ts";
import type { Operation } from "./contract.ts";
import type { Connect, Response, TableClient } from "./recorded-client.ts";
import { orderId, tableName } from "./remembered-table.ts";

/** As many as the function CancelOrder makes. */
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

/** Code that cancels the order: the service's own, or code with a planted bug. */
export type Cancel = (connect: Connect, invocation: Invocation) => Promise<void>;

/** A client of the service, or the shipper. */
export interface Actor {
  name: string;
  operation: Operation;
  /** The possible fates of its attempts. */
  fates: readonly Fate[];
  /** Its code, if it begins at this time. */
  code(askedAt: Date): TableClient;
}

/** Cancels as the service's handler does. */
export const cancel: Cancel = (connect, { keyId, askedAt, awsRequestId }) =>
  bundled.cancelOrder(connect(maxAttempts), tableName, {
    orderId,
    cancelledBy: keyId,
    cancelledAt: askedAt,
    cancellationId: awsRequestId,
  });

/** Two clients that cancel with this code, and choose the same id for their requests. */
export function cancellers(code: Cancel): [Actor, Actor] {
  return [canceller("A", code), canceller("B", code)];
}

function canceller(name: string, code: Cancel): Actor {
  return {
    name,
    operation: { kind: "cancel", by: name },
    fates,
    code: (askedAt) => (connect) => {
      const invocation = {
        keyId: name,
        askedAt,
        awsRequestId: `invocation of ${name}`,
        gatewayRequestId: "chosen by a client",
      };
      return responseTo(code(connect, invocation));
    },
  };
}

/** The response to a cancellation's client, as in the contract. */
async function responseTo(cancellation: Promise<void>): Promise<string> {
  try {
    await cancellation;
    return "204";
  } catch (error) {
    if (!(error instanceof bundled.ServiceError)) return "500 internal_error";
    return `${errors[error.code].status} ${error.code}`;
  }
}

/** When the shipper ships. */
export const shippedAt = new Date("2026-11-21T12:00:00Z");

/**
 * Ships the order if it is pending. It is not part of the service: all that counts is when its
 * write arrives. So it makes one attempt, which always arrives.
 */
export const shipper: Actor = {
  name: "the shipper",
  operation: { kind: "ship" },
  fates: fates.filter(({ name }) => name === "delivered"),
  code: () => async (connect) => {
    const shipped = await shipOrder(
      connect(1, createClient),
      tableName,
      orderId,
      shippedAt,
    );
    return shipped ? "shipped" : "not shipped";
  },
};
