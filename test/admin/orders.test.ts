import { describe, expect, test } from "vitest";
import type { OrderItem } from "../../shared/order.ts";
import { createEngineProxy } from "../helpers/admin/engine-proxy.ts";
import { createLocalOperator } from "../helpers/admin/local-operator.ts";

const { tables, operator } = await createLocalOperator();

const orders = (...args: string[]) => operator.run(["orders", ...args, "--local"]);
const cancelled: OrderItem = {
  id: { N: "-9223372036854775808" },
  petId: { N: "9007199254740993" },
  complete: { BOOL: false },
  status: { S: "cancelled" },
  cancelledAt: { S: "2026-11-20T08:00:00.000Z" },
  cancelledBy: { S: "key_1" },
  cancellationId: { S: "5f3f" },
};

describe("orders ship", () => {
  test("ships a pending order, and only that", async () => {
    await tables.put("orders", { id: { N: "1" }, status: { S: "pending" }, quantity: { N: "3" } });
    expect(await orders("ship", "1")).toEqual({ code: 0, stdout: "Order 1 has shipped.\n", stderr: "" });
    expect(await tables.items("orders")).toEqual([{ id: { N: "1" }, status: { S: "shipped" }, quantity: { N: "3" } }]);
    expect(await orders("ship", "1")).toEqual({ code: 1, stdout: "", stderr: "Order 1 has shipped already\n" });
  });

  test("says so when the order was cancelled, is unknown or is in a state of its own", async () => {
    const held: OrderItem = { id: { N: "7" }, status: { S: "held\u001b[2J" } };
    await tables.put("orders", cancelled);
    await tables.put("orders", held);
    const refused = async (id: string) => {
      const { code, stdout, stderr } = await orders("ship", id, "--json");
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      return stderr;
    };
    expect(await refused("-9223372036854775808")).toMatch(/^Order -9223372036854775808 has been cancelled/);
    expect(await refused("2")).toBe("No order has the id 2\n");
    expect(await refused("7")).toBe("Order 7 is not pending but held\\u{1b}[2J: it cannot ship\n");
    expect(await tables.items("orders")).toHaveLength(2);
    expect(await tables.items("orders")).toEqual(expect.arrayContaining([cancelled, held]));
  });

  test("takes a lost answer for what it was: done", async () => {
    await tables.put("orders", { id: { N: "1" }, status: { S: "pending" } });
    let updates = 0;
    const proxy = await createEngineProxy(tables.dynamodbEndpoint, (operation) =>
      operation === "UpdateItem" && ++updates === 1 ? "lose the answer" : "pass",
    );
    await operator.pointTo({ ...tables, dynamodbEndpoint: proxy.endpoint });
    const { code, stdout } = await orders("ship", "1", "--json");
    await proxy.stop();
    expect({ code, updates, stdout }).toEqual({ code: 0, updates: 2, stdout: '{"id":1,"status":"shipped"}\n' });
  });

  test.each(["007", "9223372036854775808"])("takes %s for wrong use, not for an order", async (id) => {
    expect(await orders("ship", id)).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("orders show", () => {
  test("shows the record, and when and by which key it was cancelled", async () => {
    await tables.put("orders", cancelled);
    await tables.put("apiKeys", {
      keyHash: { S: "0" },
      keyId: { S: "key_1" },
      name: { S: "Acme \u0007shop" },
      createdAt: { N: "1" },
      revokedAt: { N: "2" },
    });
    const shown = await orders("show", "-9223372036854775808");
    expect(shown.stdout).toBe(
      [
        "id               -9223372036854775808",
        "petId            9007199254740993",
        "complete         false",
        "status           cancelled",
        "cancelledAt      2026-11-20T08:00:00.000Z",
        "cancelledBy      key_1",
        "cancellationId   5f3f",
        String.raw`cancelledByName  Acme \u{7}shop`,
        "",
      ].join("\n"),
    );
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    const { stdout } = await orders("show", "-9223372036854775808", "--json");
    expect(stdout).toMatch(
      /^{"id":-9223372036854775808,"petId":9007199254740993,"complete":false,"status":"cancelled",/,
    );
    expect(JSON.parse(stdout)).toMatchObject({ cancelledBy: "key_1", cancelledByName: "Acme \u0007shop" });
  });

  test("says when there is none", async () => {
    expect(await orders("show", "5")).toEqual({ code: 1, stdout: "", stderr: "No order has the id 5\n" });
  });
});
