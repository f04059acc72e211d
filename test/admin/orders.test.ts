import { describe, expect, test } from "vitest";
import { ship, show } from "../../infra/admin/order-commands.ts";
import { jsonText } from "../../infra/admin/terminal.ts";
import type { OrderItem } from "../../shared/order.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";
import { applied, unnoticed } from "../helpers/faults/faults.ts";

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

describe("shipping", () => {
  test("ships a pending order, once", async () => {
    await tables.putOrder({ id: { N: "1" }, status: { S: "pending" }, quantity: { N: "3" } });
    expect(await ship(target, 1n)).toEqual({ text: "Order 1 has shipped.", json: { id: 1n, status: "shipped" } });
    expect(await tables.items("orders")).toEqual([{ id: { N: "1" }, status: { S: "shipped" }, quantity: { N: "3" } }]);
    await expect(ship(target, 1n)).rejects.toThrow("Order 1 has already shipped");
  });

  test("leaves every other order as it is, and says why", async () => {
    const orders: OrderItem[] = [cancelled, { id: { N: "7" }, status: { S: "held" } }, { id: { N: "8" } }];
    for (const order of orders) await tables.putOrder(order);
    await expect(ship(target, -(2n ** 63n))).rejects.toThrow("Order -9223372036854775808 is cancelled and can't ship");
    await expect(ship(target, 2n)).rejects.toThrow("No order has the id 2");
    await expect(ship(target, 7n)).rejects.toThrow("Order 7 has the status held and can't ship");
    await expect(ship(target, 8n)).rejects.toThrow("Order 8 has no status and can't ship");
    const items = await tables.items("orders");
    expect(items).toHaveLength(orders.length);
    expect(items).toEqual(expect.arrayContaining(orders));
  });

  test("succeeds when only the response is lost", async () => {
    await tables.putOrder({ id: { N: "1" }, status: { S: "pending" } });
    const { target, proxy } = await tables.behindProxy(({ operation, attempt }) =>
      operation === "UpdateItem" && attempt === 1 ? applied["reset after the engine"] : undefined,
    );
    expect((await ship(target, 1n)).json).toEqual({ id: 1n, status: "shipped" });
    expect(proxy.attempts.get("UpdateItem")).toBe(2);
  });

  test("does not take an empty response for success", async () => {
    await tables.putOrder({ id: { N: "1" }, status: { S: "pending" } });
    const { target } = await tables.behindProxy(() => unnoticed["an empty response of no length"]);
    await expect(ship(target, 1n)).rejects.toThrow("The response to UpdateItem is empty");
  });
});

describe("showing", () => {
  test("prints every attribute, and the name of the key that cancelled the order", async () => {
    await tables.putOrder({ ...cancelled, gift: { L: [] } });
    await tables.putKey({ keyId: "key_1", name: "Acme \u0007shop" });
    const { text, json } = await show(target, -(2n ** 63n));
    expect(text).toBe(
      [
        "id               -9223372036854775808",
        "petId            9007199254740993",
        "complete         false",
        "status           cancelled",
        "cancelledAt      2026-11-20T08:00:00.000Z",
        "cancelledBy      key_1",
        "cancellationId   5f3f",
        String.raw`cancelledByName  Acme \u{7}shop`,
        'gift             {"L":[]}',
      ].join("\n"),
    );
    const line = jsonText(json);
    expect(line).toMatch(/^{"id":-9223372036854775808,"petId":9007199254740993,"complete":false,"status":"cancelled",/);
    expect(JSON.parse(line)).toMatchObject({ cancelledBy: "key_1", cancelledByName: "Acme \u0007shop" });
  });

  test("reads consistently", async () => {
    await tables.putOrder({ id: { N: "1" } });
    const consistent: unknown[] = [];
    const { target } = await tables.behindProxy(({ input }) => void consistent.push(JSON.parse(input).ConsistentRead));
    await show(target, 1n);
    expect(consistent).toEqual([true]);
  });

  test("fails for an unknown id", async () => {
    await expect(show(target, 5n)).rejects.toThrow("No order has the id 5");
  });

  test("does not take an empty response for an unknown id", async () => {
    const { target } = await tables.behindProxy(() => unnoticed["an empty response of no length"]);
    await expect(show(target, 5n)).rejects.toThrow("The response to GetItem is empty");
  });
});
