import { describe, expect, test } from "vitest";
import { show } from "../../infra/admin/show-orders.ts";
import { jsonText } from "../../infra/terminal/printable.ts";
import type { OrderItem } from "../../shared/order.ts";
import type { Behaviour } from "../helpers/faults/fault-proxy.ts";
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

describe("showing an order", () => {
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

  test("prints every digit of an integer in JSON", async () => {
    await putWithKeys();
    const { json } = await show(target, -(2n ** 63n));
    expect(jsonText(json)).toMatch(
      /^{"id":-9223372036854775808,"status":"cancelled","petId":9007199254740993,"complete":false,/,
    );
  });

  test("names the key that cancelled it, unescaped, in JSON", async () => {
    await putWithKeys();
    const { json } = await show(target, -(2n ** 63n));
    expect(json).toMatchObject({ cancelledBy: "key_1", cancelledByName: "Acme \u0007shop" });
  });

  test("prints an order that was cancelled by a key that no one issued", async () => {
    await tables.putOrder({ id: { N: "1" }, cancelledBy: { S: "key_2" } });
    await tables.putKey({ keyId: "key_1" });
    expect((await show(target, 1n)).text).toBe("id           1\ncancelledBy  key_2");
  });

  test("reads consistently", async () => {
    await tables.putOrder({ id: { N: "1" } });
    const consistent: unknown[] = [];
    const { target: proxied } = await tables.behindProxy(
      ({ input }) => void consistent.push(JSON.parse(input).ConsistentRead),
    );
    await show(proxied, 1n);
    expect(consistent).toEqual([true]);
  });

  test("fails for an unknown id", async () => {
    await expect(show(target, 5n)).rejects.toThrow("No order has the id 5");
  });
});

const secondKey = "key_2222222222222222";
const orders: OrderItem[] = [
  cancelled,
  { id: { N: "9223372036854775807" }, status: { S: "cancelled" }, cancelledBy: { S: secondKey } },
  {
    id: { N: "1" },
    status: { S: "pending" },
    quantity: { N: "3" },
    shipDate: { S: "2026-12-24T00:00:00Z" },
  },
  { id: { N: "2" }, status: { S: "held\u001b" }, cancelledBy: { S: secondKey } },
  { id: { N: "3" } },
];

describe("listing orders", () => {
  test("shows every order in columns, exact to the last digit", async () => {
    for (const order of [...orders, { id: { N: "1.5" } }]) await tables.putOrder(order);
    const { stdout, ...ended } = await runHere(tables, ["orders", "list"]);
    expect(ended).toEqual({ code: 0, stderr: "" });
    const lines = stdout.trimEnd().split("\n");
    const [header, ...rows] = lines.map((line) => line.split(/ {2,}/));
    expect(header).toEqual([
      "ID",
      "STATUS",
      "PET ID",
      "QUANTITY",
      "COMPLETE",
      "SHIP DATE",
      "CANCELLED BY",
    ]);
    expect(rows.sort()).toEqual([
      ["-9223372036854775808", "cancelled", "9007199254740993", "-", "false", "-", "key_1"],
      ["1", "pending", "-", "3", "-", "2026-12-24T00:00:00Z", "-"],
      ["1.5", "-", "-", "-", "-", "-", "-"],
      ["2", String.raw`held\u{1b}`, "-", "-", "-", "-", secondKey],
      ["3", "-", "-", "-", "-", "-", "-"],
      ["9223372036854775807", "cancelled", "-", "-", "-", "-", secondKey],
    ]);
  });

  test("prints the orders of a status and a key as lines of an orders file", async () => {
    const other: OrderItem = {
      id: { N: "4" },
      status: { S: "cancelled" },
      cancelledBy: { S: `${secondKey}2` },
    };
    for (const order of [...orders, other]) await tables.putOrder(order);
    const run = commandsHere(tables);
    expect(
      await run(["orders", "list", "--status", "cancelled", "--cancelled-by", secondKey, "--json"]),
    ).toMatchObject({
      code: 0,
      stdout: `{"id":9223372036854775807,"status":"cancelled","cancelledBy":"${secondKey}"}\n`,
    });
  });

  const listOfKey = (key: string) => {
    const run = commandsHere(tables);
    return run(["orders", "list", "--json", "--cancelled-by", key]);
  };

  test("prints nothing for a key that cancelled no order", async () => {
    await tables.putKey({ keyId: "key_3333333333333333" });
    expect(await listOfKey("key_3333333333333333")).toMatchObject({ code: 0, stdout: "" });
  });

  test("fails for a key that does not exist", async () => {
    expect(await listOfKey("key_4444444444444444")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/\nNo key has the id key_4444444444444444\n$/),
    });
  });

  test("names an order that it skips because its id is not a 64-bit integer", async () => {
    const id = { N: "1.5" };
    // The skipped order is not on the last page.
    const twoPages: Behaviour = ({ input, response }) => {
      const page = input.includes("ExclusiveStartKey")
        ? { Items: [] }
        : { Items: [{ id }], LastEvaluatedKey: { id } };
      response.end(JSON.stringify({ ...page, ConsumedCapacity: {} }));
    };
    const { proxy } = await tables.behindProxy(() => twoPages);
    const run = commandsHere(tables, proxy.endpoint);
    expect(await run(["orders", "list", "--status", "other", "--json"])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/\nOrder 1\.5 skipped: id is not a 64-bit integer\n$/),
    });
  });
});

describe("counting orders", () => {
  const counted = async (...options: string[]) => {
    for (const order of orders) await tables.putOrder(order);
    return await runHere(tables, ["orders", "count", ...options]);
  };

  test("prints the number of each status and the total", async () => {
    expect(await counted()).toEqual({
      code: 0,
      stdout: [
        "STATUS     ORDERS",
        "pending    1",
        "shipped    0",
        "cancelled  2",
        "other      2",
        "total      5",
        "",
      ].join("\n"),
      stderr: "",
    });
  });

  test("prints them as JSON", async () => {
    expect((await counted("--json")).stdout).toBe(
      '{"pending":1,"shipped":0,"cancelled":2,"other":2,"total":5}\n',
    );
  });
});
