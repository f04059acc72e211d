import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { errorBody } from "../../shared/errors.ts";
import { isDateTime, isInt64 } from "../../shared/order.ts";
import { anyText } from "../helpers/any-text.ts";
import { type FaultyStack, startFaultyStack } from "../helpers/faults/faulty-stack.ts";

const fields = ["id", "petId", "quantity", "shipDate", "complete"];
// The same poison in every run.
const seed = 20261120;
const huge = "x".repeat(380_000);

let stack: FaultyStack;
beforeAll(async () => {
  stack = await startFaultyStack(() => undefined, { orders: "/dev/null" });
});
afterAll(() => stack?.stop());

const numbers = fc.oneof(
  fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }).map(String),
  fc.bigInt({ min: -(2n ** 63n) - 2n, max: -(2n ** 63n) + 2n }).map(String),
  fc.bigInt({ min: 2n ** 63n - 3n, max: 2n ** 63n + 3n }).map(String),
  fc.tuple(fc.integer(), fc.nat(999_999)).map(([whole, part]) => `${whole}.${part}`),
  fc
    .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: -120, max: 120 }))
    .map(([digit, power]) => `${digit}E${power}`),
);
const texts = fc.oneof(
  anyText({ minLength: 1, maxLength: 40 }),
  fc.constantFrom(
    "",
    huge,
    '"}],"x":[{"',
    "\\",
    "\u2028</script>",
    "2026-02-30T00:00:00Z",
    "2026-12-01T09:00:00Z\n",
    "9".repeat(400),
  ),
  fc.date({ noInvalidDate: true, min: new Date(0), max: new Date("9999-12-31") }).map((date) => date.toISOString()),
);
const values: fc.Arbitrary<AttributeValue> = fc.oneof(
  numbers.map((N) => ({ N })),
  texts.map((S) => ({ S })),
  fc.boolean().map((BOOL) => ({ BOOL })),
  fc.constantFrom<AttributeValue>(
    { NULL: true },
    { SS: ["1"] },
    { NS: ["1"] },
    { L: [{ N: "1" }] },
    { M: { N: { N: "1" } } },
  ),
);
const names = fc.constantFrom("petId", "quantity", "shipDate", "complete", "status", "__proto__", "constructor", "x y");
const items = fc
  .tuple(numbers, fc.dictionary(names, values, { maxKeys: 8 }))
  .map(([N, rest]) => ({ ...rest, id: { N } }));

/** Whether the text of a value has the type of its field. */
function isOfType(field: string, text: string): boolean {
  if (field === "complete") return text === "true" || text === "false";
  if (field === "shipDate") return isDateTime(JSON.parse(text));
  return isInt64(text);
}

test("whatever the table holds, the list has the right types only, and logs once what it left out", async () => {
  // The engine rejects some, like a number of 40 digits; the others are there.
  const puts = await Promise.allSettled(fc.sample(items, { numRuns: 400, seed }).map((item) => stack.putOrder(item)));
  expect(puts.filter((put) => put.status === "fulfilled").length).toBeGreaterThan(200);
  const { status, body } = await stack.call("/store/orders");
  expect(status).toBe(200);
  const whole = body.slice(1, -1);
  // Objects without nesting: the text between their braces is either allowed or not.
  const objects = whole === "" ? [] : whole.split(/(?<=\}),(?=\{)/);
  expect(JSON.parse(body)).toHaveLength(objects.length);
  for (const object of objects) {
    const pairs = [...object.slice(1, -1).matchAll(/"(\w+)":("[^"]*"|[^,]*)(?:,|$)/g)];
    expect(`{${pairs.map(([pair]) => pair).join("")}}`).toBe(object);
    expect(pairs.map(([, field]) => field)).toEqual(fields.filter((field) => pairs.some(([, each]) => each === field)));
    for (const [, field = "", text = ""] of pairs)
      expect([field, text, isOfType(field, text)]).toEqual([field, text, true]);
  }
  await expect.poll(() => stack.events("orders_listed").length).toBe(1);
  expect(stack.events("order_fields_left_out")).toHaveLength(1);
  const [{ level, message } = { level: "", message: { fields: {} } }] = stack.events("order_fields_left_out");
  expect(level).toBe("WARN");
  expect(Object.keys(message.fields ?? {}).sort()).toEqual([...fields].sort());
});

test("cancelling an order with an unknown status gets 409 order_not_pending and changes nothing", async () => {
  const unknown = fc.sample(
    values.filter((value) => value.S === undefined || !["pending", "shipped", "cancelled"].includes(value.S)),
    { numRuns: 40, seed },
  );
  const statuses: (AttributeValue | undefined)[] = [undefined, { S: "PENDING" }, { S: "pending " }, ...unknown];
  let tried = 0;
  for (const [index, status] of statuses.entries()) {
    const id = String(40_000 + index);
    const put = await stack.putOrder({ id: { N: id }, ...(status && { status }) }).catch((error: unknown) => error);
    // The engine rejects some values, like a number of 40 digits.
    if (put !== undefined) continue;
    tried += 1;
    const before = await stack.order(id);
    const response = await stack.call(`/store/orders/${id}`, { method: "DELETE" });
    expect({ status: response.status, body: response.body }).toEqual({
      status: 409,
      body: errorBody("order_not_pending"),
    });
    expect(await stack.order(id)).toEqual(before);
  }
  expect(tried).toBeGreaterThan(25);
});

test("an order of 400 KB is cancelled like any other, and its Error and log lines are no longer", async () => {
  const id = { N: "49999" };
  await stack.putOrder({ id, shipDate: { S: huge }, status: { S: "pending" } });
  expect((await stack.call("/store/orders/49999", { method: "DELETE" })).status).toBe(204);
  await stack.putOrder({ id, shipDate: { S: huge }, status: { S: "shipped" } });
  const { body } = await stack.call("/store/orders/49999", { method: "DELETE" });
  expect(body).toBe(errorBody("order_already_shipped"));
  expect(stack.log.every((line) => line.length < 10_000)).toBe(true);
});
