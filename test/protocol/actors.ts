import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { errors, ServiceError } from "../../shared/errors.ts";
import { cancelOrder } from "../../shared/orders-table.ts";
import { shipOrder } from "../../shared/recipes/write-orders.ts";
import type { Operation } from "./contract.ts";
import { type Connect, nextStep, type Response, type Step } from "./recorded-client.ts";
import { orderId, tableName } from "./remembered-table.ts";
import { remembering } from "./remembering.ts";

/** As many as the function CancelOrder makes. */
export const maxAttempts = 3;

/** What may happen to an attempt between client and table. */
export interface Fate {
  name: string;
  applied: "now" | "after the next attempt" | "never";
  /** The response that the client sees instead of the table's. */
  seen?: Response;
}

const delivered: Fate = { name: "delivered", applied: "now" };
const fates: readonly Fate[] = [
  delivered,
  { name: "lost on its way", applied: "never", seen: "none" },
  { name: "applied, its response lost", applied: "now", seen: "none" },
  {
    name: "applied, but 500",
    applied: "now",
    seen: exception(500, "InternalServerError"),
  },
  {
    name: "throttled",
    applied: "never",
    seen: exception(400, "ProvisionedThroughputExceededException"),
  },
  { name: "delivered late", applied: "after the next attempt", seen: "none" },
];

function exception(status: number, name: string) {
  const __type = `com.amazonaws.dynamodb.v20120810#${name}`;
  return { status, body: JSON.stringify({ __type, message: "injected by a test" }) };
}

export interface Invocation {
  keyId: string;
  askedAt: Date;
  awsRequestId: string;
  /** Unlike Lambda's own id, a client can choose it. */
  gatewayRequestId: string;
}

/** The service's own code, or code with a planted bug. */
export type Cancel = (connect: Connect, invocation: Invocation) => Promise<void>;

/** A client of the service, or the shipper. */
export interface Actor {
  name: string;
  operation: Operation;
  fates: readonly Fate[];
  /** Its next step when it began at this time, and its attempts have got these responses. */
  next(askedAt: Date, responses: readonly Response[]): Promise<Step>;
}

/** Cancels as the service's handler does. */
export const cancel: Cancel = (connect, { keyId, askedAt, awsRequestId }) =>
  cancelOrder(connect(maxAttempts), tableName, {
    orderId,
    cancelledBy: keyId,
    cancelledAt: askedAt,
    cancellationId: awsRequestId,
  });

/** Two clients that cancel with this code and choose one request id, and the shipper. */
export function actors(code: Cancel) {
  return [canceller("A", code), canceller("B", code), shipper];
}

function canceller(name: string, code: Cancel): Actor {
  return {
    name,
    operation: { kind: "cancel", by: name },
    fates,
    next: remembering((askedAt, responses) => {
      const invocation = {
        keyId: name,
        askedAt,
        awsRequestId: `invocation of ${name}`,
        gatewayRequestId: "chosen by a client",
      };
      return nextStep((connect) => responseTo(code(connect, invocation)), responses);
    }),
  };
}

async function responseTo(cancellation: Promise<void>) {
  try {
    await cancellation;
    return "204";
  } catch (error) {
    if (!(error instanceof ServiceError)) return "500 internal_error";
    return `${errors[error.code].status} ${error.code}`;
  }
}

export const shippedAt = new Date("2026-11-21T12:00:00Z");

/** Not part of the service: all that counts is when its one write arrives, so it always does. */
const shipper: Actor = {
  name: "the shipper",
  operation: { kind: "ship" },
  fates: [delivered],
  next: remembering((_askedAt, responses) =>
    nextStep(async (connect) => {
      const client = DynamoDBDocumentClient.from(connect(1));
      const date = shippedAt.toISOString();
      const outcome = await shipOrder(client, tableName, orderId, "parcel-1", date);
      return outcome === "shipped" ? "shipped" : "not shipped";
    }, responses),
  ),
};
