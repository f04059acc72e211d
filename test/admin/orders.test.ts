import { describe, expect, test } from "vitest";
import { count, show } from "../../infra/admin/show-orders.ts";
import { TableCalls } from "../../infra/admin/table-calls.ts";
import { jsonText } from "../../infra/terminal/printable.ts";
import type { OrderItem } from "../../shared/order.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { commandsHere, runHere } from "./command-here.ts";

const tables = await createTestTables();
const { target } = tables;
const cancelled: OrderItem = {
  id: { N: "-9223372036854775808" },
  petId: { N: "9007199254740993" },
  complete: { BOOL: false },
  status: { S: "cancelled" },
  cancelledAt: { S: "2026-11-20T08:00:00.000Z" },
  cancelledBy: { S: "key_1" },
  cancellationId: { S: "5f3f" },
};

describe("showing", () => {
  const putWithKeys = async () => {
    await tables.putOrder({ ...cancelled, gift: { L: [{ B: new Uint8Array([0, 255]) }] } });
    await tables.putKey({ keyId: "key_0", name: "Another" });
    await tables.putKey({ keyId: "key_1", name: "Acme \u0007shop" });
  };

  test("prints every attribute with the name of the key that cancelled the order", async () => {
    await putWithKeys();
    const { text } = await show(target, -(2n ** 63n));
    expect(text).toBe(
      [
        "id               -9223372036854775808",
        "status           cancelled",
        "petId            9007199254740993",
        "complete         false",
        "cancelledBy      key_1",
        "cancellationId   5f3f",
        "cancelledAt      2026-11-20T08:00:00.000Z",
        String.raw`cancelledByName  Acme \u{7}shop`,
        'gift             {"L":[{"B":"AP8="}]}',
      ].join("\n"),
    );
  });

  test("gives JSON exact to the last digit", async () => {
    await putWithKeys();
    const line = jsonText((await show(target, -(2n ** 63n))).json);
    expect(line).toMatch(
      /^{"id":-9223372036854775808,"status":"cancelled","petId":9007199254740993,"complete":false,/,
    );
    expect(JSON.parse(line)).toMatchObject({
      cancelledBy: "key_1",
      cancelledByName: "Acme \u0007shop",
    });
  });

  test("prints an order that was cancelled by a key that no one issued", async () => {
    await tables.putOrder({ id: { N: "1" }, cancelledBy: { S: "key_2" } });
    await tables.putKey({ keyId: "key_1" });
    expect((await show(target, 1n)).text).toBe("id           1\ncancelledBy  key_2");
  });

  test("reads consistently", async () => {
    await tables.putOrder({ id: { N: "1" } });
    const consistent: unknown[] = [];
    const { target } = await tables.behindProxy(
      ({ input }) => void consistent.push(JSON.parse(input).ConsistentRead),
    );
    await show(target, 1n);
    expect(consistent).toEqual([true]);
  });

  test("fails for an unknown id", async () => {
    await expect(show(target, 5n)).rejects.toThrow("No order has the id 5");
  });
});

describe("listing and counting", () => {
  const orders: OrderItem[] = [
    cancelled,
    { id: { N: "9223372036854775807" }, status: { S: "cancelled" }, cancelledBy: { S: "key_2" } },
    {
      id: { N: "1" },
      status: { S: "pending" },
      quantity: { N: "3" },
      shipDate: { S: "2026-12-24T00:00:00Z" },
    },
    { id: { N: "2" }, status: { S: "held\u001b" }, cancelledBy: { S: "key_2" } },
    { id: { N: "3" } },
  ];

  test("show every order in a table, to the last digit", async () => {
    for (const order of [...orders, { id: { N: "1.5" } }]) await tables.putOrder(order);
    const { stdout, ...ended } = await runHere(tables, ["orders", "list"]);
    expect(ended).toEqual({ code: 0, stderr: "" });
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split(/ {2,}/))
        .sort(),
    ).toEqual([
      ["-9223372036854775808", "cancelled", "9007199254740993", "-", "false", "-", "key_1"],
      ["1", "pending", "-", "3", "-", "2026-12-24T00:00:00Z", "-"],
      ["1.5", "-", "-", "-", "-", "-", "-"],
      ["2", String.raw`held\u{1b}`, "-", "-", "-", "-", "key_2"],
      ["3", "-", "-", "-", "-", "-", "-"],
      ["9223372036854775807", "cancelled", "-", "-", "-", "-", "key_2"],
      ["id", "status", "petId", "quantity", "complete", "shipDate", "cancelledBy"],
    ]);
  });

  test("show those of a status and a key as lines of an orders file", async () => {
    const other: OrderItem = {
      id: { N: "4" },
      status: { S: "cancelled" },
      cancelledBy: { S: "key_22" },
    };
    for (const order of [...orders, other]) await tables.putOrder(order);
    const run = commandsHere(tables);
    expect(
      await run(["orders", "list", "--status", "cancelled", "--cancelled-by", "key_2", "--json"]),
    ).toMatchObject({
      code: 0,
      stdout: '{"id":9223372036854775807,"status":"cancelled","cancelledBy":"key_2"}\n',
    });
  });

  const listOfKey = (key: string) =>
    commandsHere(tables)(["orders", "list", "--json", "--cancelled-by", key]);

  test("show none of a key that cancelled none", async () => {
    await tables.putKey({ keyId: "key_3" });
    expect(await listOfKey("key_3")).toMatchObject({ code: 0, stdout: "" });
  });

  test("fail for a key that does not exist", async () => {
    expect(await listOfKey("key_4")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/\nNo key has the id key_4\n$/),
    });
  });

  test("name the order that they skip because no line can hold it", async () => {
    const id = { N: "1.5" };
    const { proxy } = await tables.behindProxy(({ input }) => ({ response }) => {
      const page = input.includes("ExclusiveStartKey")
        ? { Items: [] }
        : { Items: [{ id }], LastEvaluatedKey: { id } };
      response.end(JSON.stringify({ ...page, ConsumedCapacity: {} }));
    });
    const run = commandsHere(tables, proxy.endpoint);
    expect(await run(["orders", "list", "--status", "other", "--json"])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/\nOrder 1\.5 skipped: id is not a 64-bit integer\n$/),
    });
  });

  test("add up", async () => {
    for (const order of orders) await tables.putOrder(order);
    expect(await count(target.ordersTable, new TableCalls(target.client))).toEqual({
      text: "STATUS     ORDERS\npending    1\nshipped    0\ncancelled  2\nother      2\ntotal      5",
      json: { pending: 1, shipped: 0, cancelled: 2, other: 2, total: 5 },
    });
  });
});
