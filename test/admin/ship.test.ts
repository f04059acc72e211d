import { beforeEach, describe, expect, test } from "vitest";
import { shipOrder } from "../../infra/admin/ship-orders.ts";
import { TableCalls } from "../../infra/admin/table-calls.ts";
import type { OrderItem } from "../../shared/order.ts";
import { applied, rejectedAs, unapplied } from "../helpers/faults/faults.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { createOperator } from "./admin-process.ts";
import { runHere } from "./command-here.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);
const noon = "2026-11-20T12:00:00.000001Z";
const pending = (id: number): OrderItem => ({ id: { N: String(id) }, status: { S: "pending" } });

/**
 * Ships these orders with --json, through this endpoint. Returns the exit code, standard error and
 * each order's outcome by its id.
 */
async function ship(ids: number[], dynamodbEndpoint = tables.dynamodbEndpoint) {
  const args = ["orders", "ship", ...ids.map(String), "--date", noon, "--json"];
  const { code, stdout, stderr } = await runHere({ ...tables, dynamodbEndpoint }, args);
  const lines = stdout.split("\n").filter((line) => line !== "");
  const outcomes = lines.map((line) => JSON.parse(line));
  return { code, stderr, shipments: new Map(outcomes.map((outcome) => [outcome.id, outcome])) };
}

describe("shipping an order", () => {
  const before = {
    ...pending(1),
    quantity: { N: "3" },
    complete: { BOOL: false },
    colour: { S: "red" },
  };
  const shipIt = async () => {
    await tables.putOrder({ ...before, shipDate: { S: "2026-12-24T00:00:00Z" } });
    const { proxy } = await tables.behindProxy(() => undefined);
    return { proxy, ...(await ship([1], proxy.endpoint)) };
  };

  test("changes only status, complete and shipDate", async () => {
    await shipIt();
    expect(await tables.items("orders")).toEqual([
      { ...before, status: { S: "shipped" }, complete: { BOOL: true }, shipDate: { S: noon } },
    ]);
  });

  test("says when it shipped", async () => {
    const { code, shipments } = await shipIt();
    expect(code).toBe(0);
    expect(shipments.get(1)).toEqual({ id: 1, outcome: "shipped", shipDate: noon });
  });

  test("takes one write", async () => {
    const { proxy } = await shipIt();
    expect(proxy.attempts.get("UpdateItem")).toBe(1);
  });

  interface Case {
    what: string;
    order: OrderItem | undefined;
    shipment: object;
    text: string;
    code: number;
  }
  describe.each<Case>([
    {
      what: "has shipped",
      order: {
        id: { N: "1" },
        status: { S: "shipped" },
        shipDate: { S: "2026-11-01T00:00:00Z" },
      },
      shipment: { outcome: "already_shipped", shipDate: "2026-11-01T00:00:00Z" },
      text: "Order 1 had already shipped: 2026-11-01T00:00:00Z",
      code: 3,
    },
    {
      what: "has shipped on the same date",
      order: {
        id: { N: "1" },
        status: { S: "shipped" },
        shipDate: { S: noon },
        complete: { BOOL: true },
      },
      shipment: { outcome: "already_shipped", shipDate: noon },
      text: `Order 1 had already shipped: ${noon}`,
      code: 3,
    },
    {
      what: "was cancelled",
      order: { id: { N: "1" }, status: { S: "cancelled" } },
      shipment: { outcome: "cancelled" },
      text: "Order 1 is cancelled and can't ship",
      code: 4,
    },
    {
      what: "does not exist",
      order: undefined,
      shipment: { outcome: "not_found" },
      text: "Order 1 does not exist",
      code: 5,
    },
    {
      what: "has another status",
      order: { id: { N: "1" }, status: { S: "held" } },
      shipment: { outcome: "not_pending", status: "held" },
      text: "Order 1 is not pending and can't ship: held",
      code: 6,
    },
    {
      what: "has no status",
      order: { id: { N: "1" } },
      shipment: { outcome: "not_pending" },
      text: "Order 1 is not pending and can't ship",
      code: 6,
    },
  ])("that $what", ({ order, shipment, text, code }) => {
    const shipInWords = () => runHere(tables, ["orders", "ship", "1", "--date", noon]);
    beforeEach(async () => {
      if (order) await tables.putOrder(order);
    });

    test("changes nothing", async () => {
      await ship([1]);
      expect(await tables.items("orders")).toEqual(order ? [order] : []);
    });

    test("prints the outcome in words", async () => {
      expect(await shipInWords()).toMatchObject({ stdout: `${text}\n`, stderr: "" });
    });

    test("prints the outcome as JSON", async () => {
      const shipments = new Map([[1, { id: 1, ...shipment }]]);
      expect(await ship([1])).toMatchObject({ stderr: "", shipments });
    });

    test(`exits with code ${code}, with or without --json`, async () => {
      expect(await shipInWords()).toMatchObject({ code });
      expect(await ship([1])).toMatchObject({ code });
    });
  });

  test("is reported as shipped when only the response is lost", async () => {
    await tables.putOrder(pending(1));
    const { proxy } = await tables.behindProxy(({ attempt, operation }) =>
      operation === "UpdateItem" && attempt === 1 ? applied["reset after the engine"] : undefined,
    );
    expect((await ship([1], proxy.endpoint)).shipments.get(1)).toMatchObject({
      outcome: "shipped",
    });
    expect(proxy.attempts.get("UpdateItem")).toBe(2);
  });

  test("is reported as already shipped when someone else ships it before a retry", async () => {
    const theirs = {
      id: { N: "1" },
      status: { S: "shipped" },
      shipDate: { S: "2026-11-20T12:00:00.000002Z" },
    };
    const { proxy } = await tables.behindProxy(({ attempt, operation }) =>
      operation === "UpdateItem" && attempt === 1
        ? async (exchange) => {
            await tables.putOrder(theirs);
            unapplied["500 of the service"](exchange);
          }
        : undefined,
    );
    expect((await ship([1], proxy.endpoint)).shipments.get(1)).toMatchObject({
      outcome: "already_shipped",
    });
  });

  describe("whose every response is lost", () => {
    const shipWithAnother = async () => {
      await tables.putOrder(pending(1));
      await tables.putOrder(pending(2));
      const { proxy } = await tables.behindProxy(({ operation, input }) =>
        operation === "UpdateItem" && input.includes('"N":"1"')
          ? applied["500 after the engine"]
          : undefined,
      );
      return await ship([1, 2], proxy.endpoint);
    };

    test("is reported as unknown", async () => {
      const { code, shipments } = await shipWithAnother();
      expect(code).toBe(7);
      const reason = expect.stringContaining("Unexpected error");
      expect(shipments.get(1)).toEqual({ id: 1, outcome: "unknown", reason });
    });

    test("does not keep another order from shipping", async () => {
      const { shipments } = await shipWithAnother();
      expect(shipments.get(2)).toMatchObject({ outcome: "shipped" });
    });
  });

  test("is not tried when it is interrupted while it waits for its turn", async () => {
    await tables.putOrder(pending(1));
    const calls = new TableCalls(tables.client, 1);
    await calls.make(async () => ({ ConsumedCapacity: { CapacityUnits: 3 } }), 0);
    await expect(
      shipOrder(tables.tables.orders, 1n, noon, calls, AbortSignal.abort()),
    ).rejects.toThrow("aborted");
    expect(await tables.items("orders")).toEqual([pending(1)]);
  });
});

describe("shipping many orders", () => {
  const ids = Array.from({ length: 100 }, (_, at) => at);
  const putAllButTheFirst = async () => {
    await Promise.all(ids.slice(1).map((id) => tables.putOrder(pending(id))));
    await tables.putOrder({ id: { N: "99" }, status: { S: "cancelled" } });
  };

  test("prints the outcome of each", async () => {
    await putAllButTheFirst();
    const { shipments } = await ship(ids);
    const expected = new Map(ids.map((id) => [id, { outcome: "shipped" }]));
    expected.set(0, { outcome: "not_found" }).set(99, { outcome: "cancelled" });
    for (const [id, outcome] of expected) expect(shipments.get(id)).toMatchObject(outcome);
  });

  test.each([
    ["first", ids],
    ["last", ids.toReversed()],
  ])("has the exit code of the worst outcome when it comes %s", async (_, inThisOrder) => {
    await putAllButTheFirst();
    expect((await ship(inThisOrder)).code).toBe(5);
  });

  test("says how many orders were not tried after a failure that affects all", async () => {
    let writes = 0;
    const { proxy } = await tables.behindProxy(({ operation }) =>
      operation === "UpdateItem" && ++writes > 60
        ? rejectedAs("AccessDeniedException", "not authorized")
        : undefined,
    );
    const stderr = "AWS denied access: not authorized. 40 orders not tried\n";
    expect(await ship(ids, proxy.endpoint)).toMatchObject({ code: 1, stderr });
  });
});

describe("orders ship", () => {
  test("reads ids from standard input", async () => {
    await operator.pointTo(tables);
    await tables.putOrder(pending(-1));
    await tables.putOrder({ id: { N: "9007199254740993" }, status: { S: "held\u001b" } });
    const input = "-1\r\n\n 9007199254740993 \n-1\n";
    const { code, stdout, stderr } = await operator.run(["orders", "ship", "--local", "--json"], {
      input,
    });
    expect({ code, stderr }).toEqual({ code: 6, stderr: "" });
    expect(stdout.trimEnd().split("\n").sort()).toEqual([
      expect.stringMatching(/^{"id":-1,"outcome":"shipped","shipDate":"[^"]*"}$/),
      String.raw`{"id":9007199254740993,"outcome":"not_pending","status":"held\u001b"}`,
    ]);
  });

  test("ships now unless a date is given", async () => {
    await tables.putOrder(pending(1));
    const begun = Date.now();
    const { stdout } = await runHere(tables, ["orders", "ship", "1", "--json"]);
    const { shipDate } = JSON.parse(stdout);
    expect(shipDate).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(Date.parse(shipDate)).toBeGreaterThanOrEqual(begun - 1000);
    expect(Date.parse(shipDate)).toBeLessThanOrEqual(Date.now() + 1000);
  });

  const shipFile = async (content: string) => {
    const file = await operator.write("ids.txt", content);
    const args = ["orders", "ship", "--file", file, "--date", "2026-11-20"];
    return { file, ...(await runHere(tables, args)) };
  };

  test("reads ids from a file", async () => {
    await tables.putOrder(pending(7));
    expect(await shipFile("\ufeff7\n")).toMatchObject({
      code: 0,
      stdout: "Order 7 has shipped: 2026-11-20T00:00:00Z\n",
      stderr: "",
    });
  });

  test("ships nothing when a line is not an id", async () => {
    await tables.putOrder(pending(7));
    const { file, ...ended } = await shipFile("7\n\n08\n");
    expect(ended).toEqual({
      code: 1,
      stdout: "",
      stderr: `${file}:3: not a 64-bit integer: nothing was changed\n`,
    });
    expect(await tables.items("orders")).toEqual([pending(7)]);
  });

  test("rejects a file without ids", async () => {
    const { file, ...ended } = await shipFile("\n");
    const stderr = `${file} has no order ids: nothing was changed\n`;
    expect(ended).toEqual({ code: 1, stdout: "", stderr });
  });
});
