import { DeleteItemCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, test } from "vitest";
import { type Judgement, orderRules } from "../../infra/admin/repair-rules.ts";
import type { OrderItem as Item } from "../../shared/order.ts";
import { justBefore } from "../helpers/faults/fault-proxy.ts";
import { cancelled, createMendedTable, order } from "./repair-scenario.ts";

describe("orders repair", async () => {
  const { live, tables, putCopied, putLive, putKey, items, run, behindProxy } =
    await createMendedTable("orders");

  const theirs: Item = {
    carrier: { S: "DHL" },
    parcels: { SS: ["a", "b"] },
    signature: { B: new Uint8Array([0, 255]) },
  };
  const copied = {
    1: order(1, "pending"),
    2: order(2, "shipped", theirs),
    3: cancelled(3, "key_a"),
    4: order(4, "pending", theirs),
    5: order(5, "pending"),
    6: order(6, "shipped"),
    7: order(7, "pending"),
  };
  const since = {
    5: cancelled(5, "key_b"),
    6: cancelled(6, "key_b"),
    7: order(7, "pending", { petId: { N: "8" } }),
    8: order(8, "pending"),
  };
  const mended = { ...copied, ...since };
  const putDamaged = async () => {
    await putCopied(...Object.values(copied));
    await putLive(
      order(1, "rubbish"),
      order(2, "pending", { carrier: { S: "nobody" } }),
      { id: { N: "3" } },
      ...Object.values(since),
    );
    return await items();
  };
  const explained = ["6 is cancelled, but was shipped", "8 is only in the live table"];
  const differed = [
    "FIELD           DIFFERED IN",
    "cancellationId  1",
    "cancelledAt     1",
    "cancelledBy     1",
    "carrier         1",
    "parcels         1",
    "petId           2",
    "signature       1",
    "status          3",
  ];
  const counted =
    "1 placed, 3 mended, 0 same, 1 differing, 1 changed since, 0 reinstated, 1 contradictory, " +
    "1 only live, 0 in neither";

  test("puts back what is missing or damaged, prints its ids, and leaves everything else", async () => {
    await putDamaged();
    expect(await run("orders repair --from COPY")).toEqual({
      code: 1,
      printed: ["1", "2", "3", "4"],
      said: [`Repaired ${live}: ${counted}`, ...explained, ...differed],
      items: mended,
    });
  });

  test("changes nothing when it is run again", async () => {
    await putDamaged();
    await run("orders repair --from COPY");
    expect(await run("orders repair --from COPY")).toEqual({
      code: 1,
      printed: [],
      said: [
        `Repaired ${live}: 0 placed, 0 mended, 4 same, 1 differing, 1 changed since, ` +
          "0 reinstated, 1 contradictory, 1 only live, 0 in neither",
        ...explained,
        "FIELD  DIFFERED IN",
        "petId  1",
      ],
      items: mended,
    });
  });

  test("says the same in a dry run, and writes nothing", async () => {
    const damaged = await putDamaged();
    expect(await run("orders repair --from COPY --dry-run")).toEqual({
      code: 1,
      printed: ["1", "2", "3", "4"],
      said: [`Would repair ${live}: ${counted}`, ...explained, ...differed],
      items: damaged,
    });
  });

  test("lists as JSON what it placed or mended and what may be wrong, and then the counts", async () => {
    await putDamaged();
    const { printed } = await run("orders repair --from COPY --json");
    expect(printed.map((line) => JSON.parse(line))).toEqual([
      { id: 1, outcome: "mended", status: "rubbish", was: "pending" },
      { id: 2, outcome: "mended", status: "pending", was: "shipped" },
      { id: 3, outcome: "mended", was: "cancelled" },
      { id: 4, outcome: "placed", was: "pending" },
      { id: 6, outcome: "contradictory", status: "cancelled", was: "shipped" },
      { id: 8, outcome: "onlyLive", status: "pending" },
      {
        table: live,
        dryRun: false,
        complete: true,
        placed: 1,
        mended: 3,
        same: 0,
        differing: 1,
        changedSince: 1,
        reinstated: 0,
        contradictory: 1,
        onlyLive: 1,
        inNeither: 0,
        fields: {
          status: 3,
          carrier: 1,
          parcels: 1,
          signature: 1,
          cancellationId: 1,
          cancelledAt: 1,
          cancelledBy: 1,
          petId: 2,
        },
      },
    ]);
  });

  test("puts the attributes of --fields back where they differ", async () => {
    await putDamaged();
    const { printed, items: after } = await run("orders repair --from COPY --fields petId,note");
    expect(printed).toEqual(["1", "2", "3", "4", "7"]);
    expect(after).toEqual({ ...mended, 7: copied[7] });
  });

  test("repairs only the orders of --ids, and says which of them it can't find", async () => {
    const damaged = await putDamaged();
    expect(await run("orders repair --from COPY --ids -", { input: "2\n4\n8\n9\n4\n" })).toEqual({
      code: 1,
      printed: ["2", "4"],
      said: [
        `Repaired ${live}: 1 placed, 1 mended, 0 same, 0 differing, 0 changed since, ` +
          "0 reinstated, 0 contradictory, 1 only live, 1 in neither",
        "8 is only in the live table",
        "9 is in neither table",
        "FIELD      DIFFERED IN",
        "carrier    1",
        "parcels    1",
        "signature  1",
        "status     1",
      ],
      items: { ...damaged, 2: copied[2], 4: copied[4] },
    });
  });

  test("reads each table once and the other by keys, and writes no order that needs nothing", async () => {
    await putCopied(...Object.values(copied));
    await putLive(...Object.values(copied));
    const { proxy } = await behindProxy(() => undefined);
    const { code } = await run("orders repair --from COPY", { endpoint: proxy.endpoint });
    expect(code).toBe(0);
    expect(Object.fromEntries(proxy.attempts)).toEqual({
      DescribeTable: 1,
      Scan: 2,
      BatchGetItem: 2,
    });
  });

  test.each([
    ["leaves an order that is cancelled", "UpdateItem", cancelled(2, "key_b"), "1 contradictory"],
    ["leaves an order that is set back", "UpdateItem", reinstated(2), "1 reinstated"],
    ["mends an order that is placed wrongly", "PutItem", order(2, "rubbish"), "1 mended"],
  ])("%s just before its write", async (_, operation, written, said) => {
    await putCopied(copied[2]);
    if (operation === "UpdateItem") await putLive(order(2, "pending"));
    const { proxy } = await behindProxy(justBefore(operation, () => putLive(written)));
    const ended = await run("orders repair --from COPY", { endpoint: proxy.endpoint });
    expect(ended.said[0]).toContain(said);
    expect(ended.items).toEqual({ 2: operation === "PutItem" ? copied[2] : written });
  });

  test("says what it did before it was interrupted, and does the rest when it is run again", async () => {
    const all = Array.from({ length: 100 }, (_, id) => order(id, "shipped"));
    await putCopied(...all);
    const { proxy } = await behindProxy(({ operation }) => {
      if (operation === "PutItem") process.emit("SIGINT");
      return undefined;
    });
    const first = await run("orders repair --from COPY", { endpoint: proxy.endpoint });
    const placed = Object.keys(first.items);
    expect(placed.length).toBeLessThan(100);
    expect(first).toMatchObject({
      code: 1,
      printed: placed.toSorted(),
      said: [
        expect.stringMatching(`^Repaired ${live}: ${placed.length} placed, `),
        "Interrupted. Run it again to repair the rest.",
      ],
    });
    const second = await run("orders repair --from COPY");
    expect(Object.values(second.items)).toHaveLength(100);
  });

  test.each([
    ["the table in use", tables.orders, `${tables.orders} is the table in use`],
    ["a table of keys", tables.apiKeys, `${tables.apiKeys} has an item without id`],
  ])("rejects %s as a copy", async (_, from, reason) => {
    await putKey();
    const { code, said } = await run(`orders repair --from ${from}`);
    expect({ code, said: said.at(-1) }).toEqual({ code: 1, said: expect.stringMatching(reason) });
  });
});

function reinstated(id: number): Item {
  return order(id, "pending", { reinstatedAt: { S: "2026-11-20T09:00:00.000Z" } });
}

const withoutStatus: Item = { id: { N: "1" } };
const byA = cancelled(1, "key_a");
const { id: _, ...attributes } = byA;
const { petId = { NULL: true } } = attributes;

test.each<[what: string, copied: Item, live: Item, judgement: Judgement]>([
  [
    "an order that has shipped",
    order(1, "pending"),
    order(1, "shipped"),
    { outcome: "changedSince" },
  ],
  [
    "an order that was on hold",
    order(1, "on hold"),
    order(1, "pending"),
    { outcome: "changedSince" },
  ],
  [
    "an order that never had a status",
    withoutStatus,
    order(1, "pending"),
    { outcome: "changedSince" },
  ],
  ["an order that was reinstated", byA, reinstated(1), { outcome: "reinstated" }],
  [
    "an order that was reinstated and then lost its status",
    byA,
    { ...reinstated(1), status: { S: "" } },
    { outcome: "contradictory" },
  ],
  [
    "an order that was cancelled and then lost its status",
    order(1, "pending"),
    { ...byA, status: { S: "" } },
    { outcome: "contradictory" },
  ],
  [
    "an order that had been set back and then lost its status",
    { ...byA, status: { S: "pending" } },
    { ...byA, status: { S: "" } },
    {
      outcome: "mended",
      change: { ...attributes, status: { S: "pending" } },
      differing: ["status"],
    },
  ],
  [
    "an order on hold that lost its status",
    order(1, "on hold"),
    withoutStatus,
    {
      outcome: "mended",
      change: { petId, status: { S: "on hold" } },
      differing: ["petId", "status"],
    },
  ],
  [
    "a revived order, which keeps what only it has",
    byA,
    order(1, "pending", { note: { S: "theirs" } }),
    {
      outcome: "mended",
      change: attributes,
      differing: ["cancellationId", "cancelledAt", "cancelledBy", "note", "status"],
    },
  ],
  [
    "an order that got an attribute of --fields",
    order(1, "pending"),
    order(1, "pending", { note: { S: "rubbish" } }),
    { outcome: "mended", change: { note: undefined }, differing: ["note"] },
  ],
])("a repair judges %s", (_, copied, live, judgement) => {
  expect(orderRules(["note"]).judge(copied, live)).toEqual(judgement);
});

describe("keys repair", async () => {
  const { client, live, putCopied, putLive, run, behindProxy } = await createMendedTable("apiKeys");
  const key = (name: string, more: Item = {}): Item => ({
    keyHash: { S: `hash of ${name}` },
    keyId: { S: `key_${name}` },
    createdAt: { N: "1800000000" },
    ...more,
  });
  const revoked: Item = { revokedAt: { N: "1800000001" } };
  const revokedLater: Item = { revokedAt: { N: "1800000099" } };

  test("puts back missing keys and lost revocations, and leaves all others", async () => {
    const others = [key("since", revokedLater), key("twice", revokedLater)];
    await putCopied(key("lost"), key("revived", revoked), key("since"), key("twice", revoked));
    await putLive(key("revived"), ...others, key("new"));
    expect(await run("keys repair --from COPY")).toEqual({
      code: 0,
      printed: ["key_lost", "key_revived"],
      said: [
        `Repaired ${live}: 1 placed, 1 mended, 2 same, 0 differing, 0 changed since, ` +
          "0 reinstated, 0 contradictory, 1 only live, 0 in neither",
        "key_new is only in the live table",
      ],
      items: {
        key_lost: key("lost"),
        key_revived: key("revived", revoked),
        key_since: others[0],
        key_twice: others[1],
        key_new: key("new"),
      },
    });
  });

  test("puts the whole record of a key back that is deleted just before its write", async () => {
    await putCopied(key("a", revoked));
    await putLive(key("a"));
    const Key = { keyHash: { S: "hash of a" } };
    const remove = () => client.send(new DeleteItemCommand({ TableName: live, Key }));
    const { proxy } = await behindProxy(justBefore("UpdateItem", remove));
    const { items } = await run("keys repair --from COPY", { endpoint: proxy.endpoint });
    expect(items).toEqual({ key_a: key("a", revoked) });
  });
});
