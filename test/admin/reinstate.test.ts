import { beforeEach, expect, test, vi } from "vitest";
import { justBefore, onEvery } from "../helpers/faults/fault-proxy.ts";
import { applied } from "../helpers/faults/faults.ts";
import { cancelled, createMendedTable, order } from "./repair-scenario.ts";

const { live, putLive, putKey, run, behindProxy } = await createMendedTable("orders");
const reinstate =
  "orders reinstate --cancelled-by key_1eaced1eaced1eac --since 2026-11-20T08:00:00Z";
const now = "2026-11-21T09:00:00.000Z";

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date(now) });
  await putKey({ keyId: "key_1eaced1eaced1eac" });
  return () => void vi.useRealTimers();
});

const theirs = { carrier: { S: "DHL" } };
const reinstated = (id: number) => order(id, "pending", { ...theirs, reinstatedAt: { S: now } });
const byLeaked = (id: number, at = "2026-11-20T08:00:00.000Z") =>
  cancelled(id, "key_1eaced1eaced1eac", { ...theirs, cancelledAt: { S: at } });
const orders = {
  1: byLeaked(1),
  2: byLeaked(2, "2026-11-20T08:59:59.999Z"),
  3: byLeaked(3, "2026-11-20T07:59:59.999Z"),
  4: byLeaked(4, "2026-11-20T09:00:00.000Z"),
  5: cancelled(5, "key_a"),
  6: order(6, "shipped", { cancelledBy: { S: "key_1eaced1eaced1eac" } }),
  7: order(7, "pending"),
  8: cancelled(8, "key_1eaced1eaced1eac", { cancelledAt: { S: "no date" } }),
};
const putOrders = () => putLive(...Object.values(orders));

test("what the key cancelled in the period is pending again, and everything else stays", async () => {
  await putOrders();
  expect(await run(`${reinstate} --until 2026-11-20T09:00:00Z`)).toEqual({
    code: 0,
    printed: ["1", "2"],
    said: ["Reinstated 2 orders; left 3 cancelled outside the period, 0 excepted, 0 changed since"],
    items: { ...orders, 1: reinstated(1), 2: reinstated(2) },
  });
});

test("without --until, the period goes on until now", async () => {
  await putOrders();
  expect((await run(reinstate)).printed).toEqual(["1", "2", "4"]);
});

test("a dry run prints the same ids, and writes nothing", async () => {
  await putOrders();
  expect(await run(`${reinstate} --dry-run`)).toEqual({
    code: 0,
    printed: ["1", "2", "4"],
    said: [
      "Would reinstate 3 orders; left 2 cancelled outside the period, 0 excepted, 0 changed since",
    ],
    items: orders,
  });
});

test("with --json, each order is a line with its cancellation, and the counts are the last", async () => {
  await putOrders();
  const { printed } = await run(`${reinstate} --until 2026-11-20T09:00:00Z --json`);
  expect(printed.map((line) => JSON.parse(line))).toEqual([
    { id: 1, cancelledAt: "2026-11-20T08:00:00.000Z" },
    { id: 2, cancelledAt: "2026-11-20T08:59:59.999Z" },
    {
      table: live,
      dryRun: false,
      complete: true,
      reinstated: 2,
      outsidePeriod: 3,
      excepted: 0,
      changedSince: 0,
    },
  ]);
});

test.each([
  ["--except", "2\n3\n5\n", ["1", "4"], "2 cancelled outside the period, 1 excepted"],
  ["--ids", "2\n3\n5\n99\n", ["2"], "1 cancelled outside the period, 0 excepted"],
])("%s chooses among the orders", async (option, input, printed, left) => {
  await putOrders();
  const ended = await run(`${reinstate} ${option} -`, { input });
  expect(ended.printed).toEqual(printed);
  expect(ended.said[0]).toContain(left);
  const changed = printed.map(Number).map((id) => [id, reinstated(id)]);
  expect(ended.items).toEqual({ ...orders, ...Object.fromEntries(changed) });
});

test("an empty file of ids is rejected, as the command before it in a pipe may have failed", async () => {
  await putOrders();
  expect(await run(`${reinstate} --except -`)).toEqual({
    code: 2,
    printed: [],
    said: ["error: standard input has no order ids: nothing was changed", "(see --help)"],
    items: orders,
  });
});

test("a key that was never issued is rejected", async () => {
  const { code, said } = await run(
    reinstate.replace("key_1eaced1eaced1eac", "key_0123456789abcdef"),
  );
  expect({ code, said }).toEqual({ code: 1, said: ["No key has the id key_0123456789abcdef"] });
});

test("an order that someone else has cancelled just before its write stays cancelled", async () => {
  await putLive(byLeaked(1));
  const others = cancelled(1, "key_a");
  const { proxy } = await behindProxy(justBefore("UpdateItem", () => putLive(others)));
  expect(await run(reinstate, { endpoint: proxy.endpoint })).toEqual({
    code: 0,
    printed: [],
    said: ["Reinstated 0 orders; left 0 cancelled outside the period, 0 excepted, 1 changed since"],
    items: { 1: others },
  });
});

test("an order counts as reinstated if the response to its write is lost", async () => {
  await putLive(byLeaked(1));
  const lost = onEvery("UpdateItem", applied["reset after the engine"]);
  const { proxy } = await behindProxy((call) => (call.attempt === 1 ? lost(call) : undefined));
  const { printed, items } = await run(reinstate, { endpoint: proxy.endpoint });
  expect({ printed, items }).toEqual({ printed: ["1"], items: { 1: reinstated(1) } });
});

test("an interruption is said, and a second run does the rest", async () => {
  const all = Array.from({ length: 100 }, (_, id) => byLeaked(id));
  await putLive(...all);
  const { proxy } = await behindProxy(({ operation }) => {
    if (operation === "UpdateItem") process.emit("SIGINT");
    return undefined;
  });
  const first = await run(reinstate, { endpoint: proxy.endpoint });
  expect(first).toMatchObject({
    code: 1,
    said: [expect.stringMatching(/^Reinstated /), "Interrupted. Run it again for the rest."],
  });
  const second = await run(reinstate);
  expect(first.printed.length).toBeLessThan(100);
  expect(first.printed.length + second.printed.length).toBe(100);
  expect(Object.values(second.items)).toEqual(
    expect.arrayContaining(all.map((_, id) => reinstated(id))),
  );
});
