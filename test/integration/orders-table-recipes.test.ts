import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  DynamoDBDocumentClient,
  PutCommand,
  ScanCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { describe, expect, test } from "vitest";
import { cancelOrder } from "../../shared/orders-table.ts";
import {
  correctOrder,
  placeOrder,
  reinstateOrder,
  shipOrder,
} from "../../shared/recipes/write-orders.ts";
import { beforeTests } from "../helpers/before-tests.ts";
import {
  type Behaviour,
  passOn,
  startFaultProxy,
} from "../helpers/faults/fault-proxy.ts";
import {
  applied,
  doubled,
  rejectedAs,
  unapplied,
  unnoticed,
} from "../helpers/faults/faults.ts";
import { machineHas } from "../helpers/machine.ts";
import { testEnvironment } from "../helpers/test-environment.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { startLineProcess } from "../openapi/line-process.ts";

const { client, dynamodbEndpoint, empty, items, tables } = await createTestTables();
const table = tables.orders;
const documents = DynamoDBDocumentClient.from(client);
const id = 4711;
const monday = "2026-12-21T09:30:00Z";
const tuesday = "2026-12-22T09:30:00Z";
const friday = "2026-12-25T09:30:00Z";

const put = async (order: object | undefined) =>
  order && documents.send(new PutCommand({ TableName: table, Item: { id, ...order } }));
const orders = async () =>
  (await documents.send(new ScanCommand({ TableName: table }))).Items ?? [];

type Verb = "place" | "ship" | "correct" | "reinstate";

/**
 * Writes the order with a recipe, as team A, which ships on Monday, corrects the quantity to 3 and
 * reinstates on Tuesday what it has shipped on Monday. Returns the outcome, or the message if the recipe
 * throws.
 */
type Write = (
  verb: Verb,
  read: Read,
  other?: { id?: string; name?: string },
) => Promise<string>;

/** The order as team A has read it, in plain values and in DynamoDB's. */
type Read = { plain: unknown; raw: unknown };

const recipes = {
  place: placeOrder,
  ship: shipOrder,
  correct: correctOrder,
  reinstate: reinstateOrder,
};
const argumentsOf = (
  id: unknown,
  read: unknown,
  number: (value: number) => unknown,
  name = "quantity",
): Record<Verb, unknown[]> => ({
  // An order that was read has a status and a placement already.
  place: [id, "a", { petId: number(104), status: number(1), placementId: number(2) }],
  ship: [id, "a", monday],
  correct: [read, "a", name, number(3)],
  reinstate: [id, "a", monday, friday, tuesday],
});

/** The fault that the next call of team A meets, if any. */
let next: Behaviour | undefined;

const teamA = beforeTests(async (running) => {
  const { endpoint, stop } = await startFaultProxy(dynamodbEndpoint, () => {
    const met = next;
    next = undefined;
    return met;
  });
  running.defer(stop);
  // Without our retries, as other teams have it.
  const plain = new DynamoDBClient({ endpoint });
  running.defer(() => plain.destroy());
  return { endpoint, documents: DynamoDBDocumentClient.from(plain) };
});

const inTypeScript: Write = async (verb, read, other) => {
  const { id: orderId = `${id}`, name } = other ?? {};
  const exact = orderId.includes(".") ? Number(orderId) : BigInt(orderId);
  const args = argumentsOf(exact, read.plain, (value) => value, name)[verb];
  return Reflect.apply(recipes[verb], undefined, [teamA.documents, table, ...args]).catch(
    (error: Error) => error.message,
  );
};

function startPython(): Write {
  const program = `${import.meta.dirname}/write_orders_calls.py`;
  const ask = startLineProcess("python3", ["-B", program], {
    ...testEnvironment,
    AWS_DEFAULT_REGION: testEnvironment.AWS_REGION,
    PYTHONPATH: "shared/recipes",
  });
  const number = (value: number) => ({ N: String(value) });
  return (verb, read, other) => {
    const exact = JSON.rawJSON(other?.id ?? `${id}`);
    const args = argumentsOf(exact, read.raw, number, other?.name)[verb];
    return ask([verb, teamA.endpoint, table, ...args]);
  };
}

/** Writes until the recipe returns. Its first call meets this behaviour. */
async function finish(write: Write, verb: Verb, first: Behaviour) {
  const [plain = { id }] = await orders();
  const [raw = { id: { N: `${id}` } }] = await items("orders");
  const read = { plain, raw };
  next = first;
  const told = await write(verb, read);
  return told === "The response is empty" ? await write(verb, read) : told;
}

const others: Record<string, () => Promise<unknown>> = {
  cancels: () =>
    cancelOrder(client, table, {
      orderId: BigInt(id),
      cancelledBy: "key_a",
      cancelledAt: new Date(),
      cancellationId: "request",
    }).catch(() => "409"),
  places: () => placeOrder(documents, table, BigInt(id), "b", {}),
  ships: () => shipOrder(documents, table, BigInt(id), "b", tuesday),
  "re-ships": () => shipOrder(documents, table, BigInt(id), "b", monday),
  corrects: async () => {
    const [read = {}] = await orders();
    return correctOrder(documents, table, read, "b", "quantity", 2);
  },
  // By hand, without an id.
  raises: () =>
    documents.send(
      new UpdateCommand({
        TableName: table,
        Key: { id },
        UpdateExpression: "SET quantity = :more",
        ExpressionAttributeValues: { ":more": 5 },
      }),
    ),
  removes: () =>
    documents.send(
      new UpdateCommand({
        TableName: table,
        Key: { id },
        UpdateExpression: "REMOVE quantity",
      }),
    ),
  reinstates: () =>
    reinstateOrder(documents, table, BigInt(id), "a", monday, friday, friday),
};

const shippedByA = { status: "shipped", shipmentId: "a", shipDate: monday };
const shippedByB = { status: "shipped", shipmentId: "b", shipDate: tuesday };
const ordered = { status: "pending", quantity: 2 };
/** The order before each recipe but "place" changes it. */
const before: Partial<Record<Verb, object>> = {
  ship: { status: "pending" },
  correct: ordered,
  reinstate: shippedByA,
};
/** The order after each recipe has changed it. */
const written: Record<string, object> = {
  placed: { status: "pending", placementId: "a", petId: 104 },
  shipped: { ...shippedByA, complete: true },
  corrected: { status: "pending", quantity: 3, correctionId: "a" },
  reinstated: {
    status: "pending",
    complete: false,
    shipDate: friday,
    reinstatedAt: tuesday,
  },
};

/** Shipped again, by hand, since team A reinstated it. */
const againByHand = { status: "shipped", shipDate: monday, reinstatedAt: tuesday };

const owned =
  "id status complete placementId shipmentId correctionId cancellationId cancelledAt cancelledBy reinstatedAt";

const hasBoto3 = machineHas("boto3", "the recipes of the orders table in Python");

describe.each([
  { language: "TypeScript", isMissing: false, start: () => inTypeScript },
  { language: "Python", isMissing: !hasBoto3, start: startPython },
])("in $language", ({ isMissing, start }) => {
  const write = isMissing ? inTypeScript : start();
  const testHere = test.skipIf(isMissing);

  testHere.each<
    [verb: Verb, before: object | undefined, outcome: string, after?: object]
  >([
    ["place", undefined, "placed"],
    ["place", { status: "cancelled", placementId: "a" }, "already placed by you"],
    ["place", { status: "pending", placementId: "b" }, "taken"],
    ["ship", undefined, "no such order"],
    ["ship", { ...shippedByB, status: "pending" }, "shipped"],
    ["ship", { ...shippedByA, complete: true }, "shipped"],
    ["ship", { ...shippedByA, shipmentId: "b" }, "shipped by someone else"],
    // By a team with a proof of its own, after the shipment of team A was undone.
    ["ship", { ...shippedByA, shipDate: tuesday }, "shipped by someone else"],
    ["ship", { ...shippedByA, status: "cancelled" }, "cancelled"],
    ["ship", { ...shippedByA, status: "on hold" }, "not pending"],
    ["correct", undefined, "no such order"],
    ["correct", { status: "pending" }, "corrected"],
    ["correct", { ...ordered, correctionId: "b" }, "corrected"],
    ["correct", { ...ordered, status: "cancelled" }, "not pending"],
    ["reinstate", undefined, "no such order"],
    ["reinstate", shippedByA, "reinstated"],
    ["reinstate", { status: "shipped", shipDate: monday }, "reinstated"],
    ["reinstate", written["reinstated"], "reinstated"],
    ["reinstate", againByHand, "reinstated", againByHand],
    ["reinstate", { ...shippedByA, status: "cancelled" }, "changed since"],
  ])(
    "team A asks to %s the order %j: %s, though responses are lost, empty or to a second copy",
    async (verb, before, outcome, after = written[outcome] ?? before) => {
      const again = outcome === "placed" ? "already placed by you" : outcome;
      const responses: [first: Behaviour, told: string][] = [
        [passOn, outcome],
        [applied["reset after the engine"], again],
        [unnoticed["an empty response of no length"], again],
        [doubled, again],
      ];
      for (const [first, told] of responses) {
        await empty();
        await put(before);
        expect(await finish(write, verb, first)).toBe(told);
        expect(await orders()).toEqual(after ? [{ id, ...after }] : []);
      }
    },
  );

  const place = async (orderId: string) =>
    await write("place", { plain: {}, raw: {} }, { id: orderId });

  testHere("team A can place any 64-bit integer, and no other id", async () => {
    for (const edge of ["-9223372036854775808", "9223372036854775807"])
      expect(await place(edge)).toBe("placed");
    for (const beyond of ["-9223372036854775809", "9223372036854775808", "5.5"])
      expect(await place(beyond)).toMatch(
        /^The id .* 64|^Cannot convert 5.5 to a BigInt/,
      );
    expect(await items("orders")).toHaveLength(2);
  });

  testHere(
    "team A can correct any attribute but those that other writes own",
    async () => {
      const read = { plain: { id }, raw: { id: { N: `${id}` } } };
      const correct = (name: string) => write("correct", read, { name });
      for (const name of owned.split(" "))
        expect(await correct(name)).toBe(`${name} can't be corrected`);
      for (const name of ["petId", "shipDate", "idle", "paid"]) {
        await put({ status: "pending" });
        expect(await correct(name)).toBe("corrected");
      }
    },
  );

  testHere("team A learns why the table rejects a write", async () => {
    for (const verb of Object.keys(recipes) as Verb[])
      expect(await finish(write, verb, rejectedAs("AccessDeniedException"))).toContain(
        "injected by a test",
      );
  });

  testHere.each<
    [verb: Verb, when: "before" | "after", meanwhile: string, outcome: string, object?]
  >([
    ["place", "before", "places", "taken"],
    ["place", "after", "cancels", "already placed by you"],
    ["ship", "before", "cancels", "cancelled"],
    ["ship", "before", "ships", "shipped by someone else"],
    ["ship", "after", "cancels", "shipped"],
    ["ship", "after", "reinstates ships", "shipped by someone else"],
    ["ship", "after", "reinstates cancels", "cancelled"],
    ["correct", "before", "corrects", "changed since"],
    ["correct", "before", "raises", "changed since"],
    ["correct", "before", "raises", "changed since", { status: "pending" }],
    ["correct", "before", "removes", "changed since"],
    ["correct", "before", "ships", "not pending"],
    ["correct", "after", "corrects", "changed since"],
    ["correct", "after", "ships", "corrected"],
    ["reinstate", "before", "reinstates ships", "changed since"],
    ["reinstate", "before", "reinstates re-ships", "changed since"],
    ["reinstate", "after", "re-ships", "reinstated"],
  ])(
    "team A asks to %s the order, just %s which someone else %s it: %s, and that stands",
    async (verb, when, meanwhile, outcome, first = before[verb]) => {
      let order: unknown;
      const act = async () => {
        for (const name of meanwhile.split(" ")) await others[name]?.();
        order = await orders();
      };
      const lost: Behaviour = async (exchange) => {
        if (when === "before") await act();
        await exchange.forward();
        if (when === "after") await act();
        unapplied["reset before a response"](exchange);
      };
      await put(first);
      expect(await finish(write, verb, lost)).toBe(outcome);
      expect(await orders()).toEqual(order);
    },
  );
});
