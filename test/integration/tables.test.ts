import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { afterAll, expect, test } from "vitest";
import { hashApiKey, makeApiKey } from "../../shared/api-keys.ts";
import { issueApiKey, readApiKey } from "../../shared/api-keys-table.ts";
import { callLimits, createClient } from "../../shared/dynamodb.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { OrderItem } from "../../shared/order.ts";
import { cancelOrder, scanOrders } from "../../shared/orders-table.ts";
import { ScanProtocol } from "../../shared/scan-protocol.ts";
import { createTestTables } from "../helpers/test-tables.ts";

const { client, dynamodbEndpoint, items, putOrder, tables } = await createTestTables();
/** The functions' client. */
const service = createClient(callLimits.list, {
  endpoint: dynamodbEndpoint,
  protocol: ScanProtocol,
});
afterAll(() => service.destroy());

/** Cancels an order. @returns 204 or the error code. */
async function cancel(orderId: bigint, cancellationId: string) {
  const by = { cancelledBy: "key_1", cancelledAt: new Date(), cancellationId };
  try {
    await cancelOrder(service, tables.orders, { orderId, ...by });
    return 204;
  } catch (error) {
    return error instanceof ServiceError ? error.code : String(error);
  }
}

/** The JSON of every order, for each page. */
async function listPages(): Promise<string[][]> {
  const pages = await Array.fromAsync(scanOrders(service, tables.orders));
  return pages.map(({ json }) =>
    String(json)
      .slice(1)
      .split(/(?<=\}),/),
  );
}

test("the orders table lets exactly one of fifty racing cancellations win, and records it", async () => {
  await putOrder({ id: { N: "1" }, status: { S: "pending" } });
  const racers = Array.from({ length: 50 }, (_, number) => `racer-${number}`);
  const outcomes = await Promise.all(racers.map((racer) => cancel(1n, racer)));
  expect(outcomes.filter((outcome) => outcome !== 204)).toEqual(
    Array(49).fill("order_already_cancelled"),
  );
  const winner = { S: racers[outcomes.indexOf(204)] };
  expect(await items("orders")).toMatchObject([
    { status: { S: "cancelled" }, cancellationId: winner },
  ]);
});

// Whether an order is complete says nothing about its status.
const complete = { BOOL: true };
const cancelledBy = (id: string): OrderItem => ({
  status: { S: "cancelled" },
  complete,
  cancellationId: { S: id },
});

/** The orders that `invocation-1` cancels, without ids, and the outcome. */
const cancellations: [what: string, before: OrderItem | undefined, outcome: unknown][] = [
  ["a pending order", { status: { S: "pending" }, petId: { N: "7" }, complete }, 204],
  [
    "an order that this invocation has cancelled, its response lost",
    cancelledBy("invocation-1"),
    204,
  ],
  ["an order that does not exist", undefined, "order_not_found"],
  ["a shipped order", { status: { S: "shipped" } }, "order_already_shipped"],
  [
    "an order that this invocation has cancelled, marked shipped since",
    { status: { S: "shipped" }, cancellationId: { S: "invocation-1" } },
    "order_already_shipped",
  ],
  [
    "an order that another invocation has cancelled",
    cancelledBy("invocation-0"),
    "order_already_cancelled",
  ],
  [
    "an order cancelled in the table",
    { status: { S: "cancelled" } },
    "order_already_cancelled",
  ],
  [
    "an order of unknown status",
    { status: { S: "lost" }, complete },
    "order_not_pending",
  ],
  ["an order without a status", { complete }, "order_not_pending"],
];

test.each(cancellations)(
  "the cancellation of %s (%j) ends in %s, and changes nothing else",
  async (_, before, outcome) => {
    const orders = before ? [{ id: { N: "1" }, ...before }] : [];
    for (const order of orders) await putOrder(order);
    expect(await cancel(1n, "invocation-1")).toBe(outcome);
    const cancelled = {
      status: { S: "cancelled" },
      cancellationId: { S: "invocation-1" },
    };
    const after = await items("orders");
    if (outcome === 204) expect(after).toMatchObject([{ ...orders[0], ...cancelled }]);
    else expect(after).toEqual(orders);
  },
);

test("the orders table lists every order of several pages once", async () => {
  // Two of them fit into a page of 1 MB; DynamoDB Local adds a third.
  const padding = { S: "x".repeat(380_000) };
  const ids = Array.from({ length: 9 }, (_, index) => String(1000 + index));
  for (const N of ids) await putOrder({ id: { N }, complete: { BOOL: false }, padding });
  const pages = await listPages();
  expect(pages.length).toBeGreaterThan(2);
  expect(pages.flat().sort()).toEqual(ids.map((id) => `{"id":${id},"complete":false}`));
});

// When it expires: test/unit/authorize.test.ts.
test("an issued key is stored as its hash, with its own id", async () => {
  const key = makeApiKey("pets_test");
  const fields = { name: "Acme", createdAt: 100, expiresAt: 200 };
  const documents = DynamoDBDocumentClient.from(client);
  const authorizer = DynamoDBDocumentClient.from(service);
  const record = await issueApiKey(documents, tables.apiKeys, key, fields);
  expect(record).toEqual({
    ...fields,
    keyHash: hashApiKey(key),
    keyId: expect.stringMatching(/^key_[0-9a-f]{16}$/),
  });
  expect(await readApiKey(authorizer, tables.apiKeys, key)).toEqual(record);
  const other = await issueApiKey(documents, tables.apiKeys, key, fields);
  expect(other.keyId).not.toBe(record.keyId);
});
