import { constants } from "node:os";
import { beforeEach, describe, expect, test } from "vitest";
import { shipOrder } from "../../infra/admin/ship-orders.ts";
import { TableCalls } from "../../infra/admin/table-calls.ts";
import type { OrderItem } from "../../shared/order.ts";
import { passOn } from "../helpers/faults/fault-proxy.ts";
import { applied, rejectedAs, unapplied } from "../helpers/faults/faults.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { createOperator } from "./admin-process.ts";
import { runHere } from "./command-here.ts";
import { erased } from "./orders-file.ts";

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

    test("has its own exit code even when others are not tried", async () => {
      await tables.putOrder(pending(1));
      const { proxy } = await tables.behindProxy(({ operation, input }) => {
        if (operation !== "UpdateItem") return undefined;
        const isFirst = input.includes('"N":"1"');
        return isFirst ? applied["500 after the engine"] : rejectedAs("AccessDeniedException");
      });
      expect(await ship([1, 2], proxy.endpoint)).toMatchObject({
        code: 7,
        stderr: expect.stringContaining("2 orders: 1 not tried, 1 unknown\n"),
      });
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

  test.each([
    ["ascending", ids],
    ["descending", ids.toReversed()],
  ])("prints the outcome of each in the order asked, %s, then a summary", async (_, asked) => {
    await putAllButTheFirst();
    const isAbout = (input: string, at: number) => input.includes(`"id":{"N":"${asked[at]}"}`);
    const later = Promise.withResolvers<void>();
    const { proxy } = await tables.behindProxy(({ input }) => {
      if (isAbout(input, 20)) later.resolve();
      if (!isAbout(input, 10)) return undefined;
      return async (exchange) => {
        await later.promise;
        await passOn(exchange);
      };
    });
    const { code, stderr, shipments } = await ship(asked, proxy.endpoint);
    expect([...shipments.keys()]).toEqual(asked);
    const outcomes = asked.map((id) => shipments.get(id).outcome);
    const expected = new Map([
      [0, "not_found"],
      [99, "cancelled"],
    ]);
    expect(outcomes).toEqual(asked.map((id) => expected.get(id) ?? "shipped"));
    expect(stderr).toBe("100 orders: 98 shipped, 1 cancelled, 1 not found\n");
    expect(code).toBe(5);
  });

  test("shows its progress on a terminal, and prints the outcomes above it", async () => {
    await putAllButTheFirst();
    const args = ["orders", "ship", "1", "2"];
    const { stdout, stderr } = await runHere(tables, args, { terminals: ["stdout", "stderr"] });
    expect(stdout).toMatch(/^Order 1 has shipped[^\n]*\nOrder 2 has shipped[^\n]*\n$/);
    expect(stderr).toContain(`${erased}Shipping 50%, `);
    expect(stderr).toMatch(/2 orders: 2 shipped\n$/);
  });

  const failAfter60 = async () => {
    let writes = 0;
    const { proxy } = await tables.behindProxy(({ operation }) =>
      operation === "UpdateItem" && ++writes > 60
        ? rejectedAs("AccessDeniedException", "not authorized")
        : undefined,
    );
    return proxy.endpoint;
  };

  test("stops when no one reads its results any more, and counts those not tried", async () => {
    const closed = { code: "EPIPE", errno: -constants.errno.EPIPE, syscall: "write" };
    let isClosed = false;
    const { proxy } = await tables.behindProxy(({ operation }) => {
      if (operation === "UpdateItem" && !isClosed) {
        isClosed = true;
        process.stdout.emit("error", Object.assign(new Error("write"), closed));
      }
      return undefined;
    });
    const { code, stderr } = await ship(ids, proxy.endpoint);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^100 orders: .* \d\d not tried\nStandard output can't be written: broken pipe\n$/,
    );
  });

  test("says how many orders were not tried after a failure that affects all", async () => {
    expect(await ship(ids, await failAfter60())).toMatchObject({
      code: 1,
      stderr: "100 orders: 60 not found, 40 not tried\nAWS denied access: not authorized\n",
    });
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
    expect({ code, stderr }).toEqual({
      code: 6,
      stderr: "2 orders: 1 shipped, 1 not pending\n",
    });
    expect(stdout.trimEnd().split("\n")).toEqual([
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

  test.each([
    ["a line is not an id", "7\n\n08\n", ":3: not a 64-bit integer: nothing was changed"],
    ["there are none", "\n", " has no order ids: nothing was changed"],
  ])("ships nothing when %s, which is wrong use", async (_, content, reason) => {
    await tables.putOrder(pending(7));
    const { file, ...ended } = await shipFile(content);
    expect(ended).toEqual({
      code: 2,
      stdout: "",
      stderr: `error: ${file}${reason}\n(see --help)\n`,
    });
    expect(await tables.items("orders")).toEqual([pending(7)]);
  });
});
