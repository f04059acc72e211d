import { afterAll, describe, expect, test } from "vitest";
import type { OrderItem } from "../../shared/order.ts";
import { type Behaviour, onEvery, respond } from "../helpers/faults/fault-proxy.ts";
import { rejectedAs } from "../helpers/faults/faults.ts";
import { startTestStack } from "../helpers/test-stack.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { createOperator } from "./admin-process.ts";
import { runHere, type Tables } from "./command-here.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);

const loggedAt = "2026-11-20T08:00:00.123Z";
const before = "2026-11-20T08:00:00.122Z";

/** The line that the function logs about an order's cancellation. */
const logged = (orderId: string, requestId = "request_1") =>
  JSON.stringify({
    timestamp: loggedAt,
    level: "INFO",
    requestId,
    message: { event: "order_cancelled", keyId: "key_1", orderId },
  });

/** The order that this cancellation leaves, with these changes. */
const cancelled = (id: string, changes: Record<string, string> = {}): OrderItem => {
  const texts = {
    status: "cancelled",
    cancelledAt: before,
    cancelledBy: "key_1",
    cancellationId: "request_1",
    ...changes,
  };
  const attributes = Object.entries(texts).map(([name, S]) => [name, { S }]);
  return { id: { N: id }, ...Object.fromEntries(attributes) };
};

/** Audits a log of these lines, as `aws logs filter-log-events --output text` prints them. */
async function audit(lines: string[], options: string[] = [], on: Tables = tables) {
  const log = await operator.write("cancelled.log", lines.map((line) => `${line}\n\n`).join(""));
  const args = ["orders", "audit", "--log", log, ...options];
  return { log, ...(await runHere({ ...tables, ...on }, args)) };
}

describe("an audit", () => {
  test("names each acknowledged cancellation that the table doesn't show", async () => {
    for (const order of [
      cancelled("1"),
      cancelled("3", { status: "pending" }),
      cancelled("4", { status: "held\u001b" }),
      { id: { N: "5" } },
      cancelled("-6", { cancellationId: "request_2" }),
    ])
      await tables.putOrder(order);
    const { log: _, ...ended } = await audit(
      ["1", "2", "3", "4", "5", "-6"].map((id) => logged(id)),
    );
    const acknowledged = `key_1 cancelled it at ${loggedAt} (request_1)`;
    expect(ended).toEqual({
      code: 1,
      stdout: [
        `Order 2 is missing, but ${acknowledged}`,
        `Order 3 is pending, but ${acknowledged}`,
        `Order 4 is held\\u{1b}, but ${acknowledged}`,
        `Order 5 is without a status, but ${acknowledged}`,
        `Order -6 is cancelled by request request_2, but ${acknowledged}`,
        "",
      ].join("\n"),
      stderr: "6 cancellations: 1 stand, 5 undone, 0 reinstated since and not judged\n",
    });
  });

  test("names them as JSON, with the order that the table has", async () => {
    await tables.putOrder({ id: { N: "9007199254740993" }, status: { S: "shipped" } });
    const { stdout } = await audit(
      ["9007199254740993", "2"].map((id) => logged(id)),
      ["--json"],
    );
    const acknowledged = `"cancelledBy":"key_1","cancellationId":"request_1","loggedAt":"${loggedAt}"`;
    expect(stdout).toBe(
      `{"id":9007199254740993,${acknowledged},"order":{"id":9007199254740993,"status":"shipped"}}\n` +
        `{"id":2,${acknowledged},"order":null}\n`,
    );
  });

  test("doesn't judge a cancellation whose order was reinstated since", async () => {
    await tables.putOrder(cancelled("1", { status: "shipped", reinstatedAt: loggedAt }));
    await tables.putOrder(cancelled("2", { status: "shipped", reinstatedAt: before }));
    await tables.putOrder(cancelled("3", { reinstatedAt: before }));
    expect(await audit(["1", "2", "3"].map((id) => logged(id)))).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^Order 2 is shipped, [^\n]*\n$/),
      stderr: "3 cancellations: 1 stand, 1 undone, 1 reinstated since and not judged\n",
    });
  });

  test("succeeds when every cancellation stands or its order was reinstated", async () => {
    await tables.putOrder(cancelled("1"));
    await tables.putOrder(cancelled("2", { status: "pending", reinstatedAt: loggedAt }));
    expect(await audit([logged("1"), logged("2")])).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "2 cancellations: 1 stand, 0 undone, 1 reinstated since and not judged\n",
    });
  });

  test("judges both cancellations of an order that was cancelled twice", async () => {
    await tables.putOrder(cancelled("1", { cancellationId: "request_2" }));
    expect(await audit([logged("1"), logged("1", "request_2")])).toMatchObject({
      stdout: expect.stringMatching(
        /^Order 1 is cancelled by request request_2, [^\n]*\(request_1\)\n$/,
      ),
      stderr: "2 cancellations: 1 stand, 1 undone, 0 reinstated since and not judged\n",
    });
  });

  test("ignores the function's other lines", async () => {
    await tables.putOrder(cancelled("1"));
    const other = logged("2").replace("order_cancelled", "cancel_rejected");
    expect(await audit(["START", other, "None", logged("1")])).toMatchObject({ code: 0 });
  });

  test.each([
    ["is cut off", logged("1").slice(0, -10)],
    ["is an event in JSON of its own", JSON.stringify({ message: logged("1") })],
    ["has a time before it", `${loggedAt} ${logged("1")}`],
    ["has no order id", logged("")],
    ["has a time that is none", logged("1").replace(loggedAt, "yesterday")],
  ])("stops at a line that %s", async (_, line) => {
    await tables.putOrder(cancelled("1"));
    const { log, ...ended } = await audit([logged("1"), line, logged("2")]);
    expect(ended).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "0 cancellations: 0 stand, 0 undone, 0 reinstated since and not judged\n" +
        `${log}:3: not a whole line of the function's log. The rest was not audited.\n`,
    });
  });

  test("fails when a log has no cancellations, as the command before it may have failed", async () => {
    const { log, ...ended } = await audit([]);
    expect(ended).toEqual({ code: 1, stdout: "", stderr: `${log} has no cancellations\n` });
  });
});

describe("an audit of more than a hundred cancellations", () => {
  const ids = Array.from({ length: 250 }, (_, id) => String(id));
  const lines = ids.map((id) => logged(id));

  test("reads a hundred orders at a time, consistently", async () => {
    const reads: { ConsistentRead: boolean; Keys: OrderItem[] }[] = [];
    const { proxy } = await tables.behindProxy(({ operation, input }) => {
      const { RequestItems } = JSON.parse(input);
      if (operation === "BatchGetItem") reads.push(RequestItems[tables.tables.orders]);
      return undefined;
    });
    await audit(lines, [], { ...tables, dynamodbEndpoint: proxy.endpoint });
    const sizes = reads.map(({ ConsistentRead, Keys }) => ConsistentRead && Keys.length);
    expect(sizes.toSorted()).toEqual([100, 100, 50]);
  });

  test("reads again what the table left out while it throttled", async () => {
    for (const id of ids) await tables.putOrder(cancelled(id));
    const half: Behaviour = async ({ forward, input, response }) => {
      const { orders } = tables.tables;
      const { Keys, ...rest } = JSON.parse(input).RequestItems[orders];
      const read = { ...rest, Keys: Keys.slice(0, 30) };
      const { body, ...head } = await forward(JSON.stringify({ RequestItems: { [orders]: read } }));
      const left = { ...rest, Keys: Keys.slice(30) };
      const UnprocessedKeys = left.Keys.length > 0 ? { [orders]: left } : {};
      const answer = { ...JSON.parse(body.toString()), UnprocessedKeys };
      const headers = { "content-type": head.headers["content-type"] };
      respond(response, {
        status: head.status,
        headers,
        body: Buffer.from(JSON.stringify(answer)),
      });
    };
    const { proxy } = await tables.behindProxy(onEvery("BatchGetItem", half));
    expect(await audit(lines, [], { ...tables, dynamodbEndpoint: proxy.endpoint })).toMatchObject({
      code: 0,
      stderr: "250 cancellations: 250 stand, 0 undone, 0 reinstated since and not judged\n",
    });
    expect(proxy.attempts.get("BatchGetItem")).toBe(4 + 4 + 2);
  });

  test("says why it could not read the rest", async () => {
    const denied = rejectedAs("AccessDeniedException", "not authorized");
    const { proxy } = await tables.behindProxy(onEvery("BatchGetItem", denied));
    expect(await audit(lines, [], { ...tables, dynamodbEndpoint: proxy.endpoint })).toMatchObject({
      code: 1,
      stdout: "",
      stderr:
        "0 cancellations: 0 stand, 0 undone, 0 reinstated since and not judged\n" +
        "AWS denied access: not authorized. The rest was not audited.\n",
    });
  });
});

describe("an audit of a stack's own log", async () => {
  const stack = await startTestStack();
  afterAll(() => stack.stop());

  test("names exactly the cancellations that were undone by hand", async () => {
    const ids = Array.from({ length: 30 }, (_, at) => 1000 + at);
    const statuses = await Promise.all(
      ids.map(async (id) => {
        await stack.putOrder({ id: { N: String(id) }, status: { S: "pending" } });
        return (await stack.call(`/store/orders/${id}`, { method: "DELETE" })).status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([204]));
    for (const id of ["1003", "1014", "1029"])
      await stack.putOrder({ id: { N: id }, status: { S: "pending" } });
    await expect
      .poll(() => stack.log.filter((line) => line.includes("order_cancelled")))
      .toHaveLength(30);
    const { stdout, stderr } = await audit(stack.log, [], stack);
    expect(stdout.match(/^Order \d+ is pending/gm)?.toSorted()).toEqual([
      "Order 1003 is pending",
      "Order 1014 is pending",
      "Order 1029 is pending",
    ]);
    expect(stderr).toBe(
      "30 cancellations: 27 stand, 3 undone, 0 reinstated since and not judged\n",
    );
  });
});
