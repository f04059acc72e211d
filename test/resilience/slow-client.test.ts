import { expect, test } from "vitest";
import { beforeTests } from "../helpers/before-tests.ts";
import type { Behaviour } from "../helpers/faults/fault-proxy.ts";
import { startFaultyStack } from "../helpers/faults/faulty-stack.ts";

const ordersPerPage = 2_200;
// A long field: buffers fill by the byte, and a page costs by the order.
const shipDate = { S: "2026-11-21T08:00:00.123456789+18:00" };
const orders = Array.from({ length: ordersPerPage }, (_, id) => ({
  id: { N: `${2n ** 62n + BigInt(id)}` },
  shipDate,
}));
const items = JSON.stringify(orders);
const orderBytes = `{"id":${2n ** 62n},"shipDate":"${shipDate.S}"},`.length;
const pageBytes = ordersPerPage * orderBytes;
/** By the invocation of a list's first page; the latest list last. */
const pagesAsked = new Map<string, number>();
/** An endless list: every page says there is a next one. */
const endless: Behaviour = ({ input, invocation, response }) => {
  const list = JSON.parse(input).ExclusiveStartKey?.list.S ?? invocation;
  pagesAsked.set(list, (pagesAsked.get(list) ?? 0) + 1);
  const page = `{"Items":${items},"LastEvaluatedKey":{"id":{"N":"0"},"list":{"S":"${list}"}}}`;
  response.end(page, "latin1");
};
const stack = beforeTests((running) =>
  startFaultyStack(running, ({ operation, input }) => {
    // Other scans are the stack's, which looks for its keys, and a function's that gets ready.
    const isList =
      operation === "Scan" && JSON.parse(input).ProjectionExpression !== undefined;
    return isList ? endless : undefined;
  }),
);

async function openList() {
  const client = new AbortController();
  const response = await fetch(`${stack.baseUrl}/store/orders`, {
    headers: { authorization: `Bearer ${stack.apiKey}`, "accept-encoding": "identity" },
    signal: client.signal,
  });
  expect(response.status).toBe(200);
  const reader = response.body?.getReader();
  const list = [...pagesAsked.keys()].at(-1) ?? "";
  return {
    pagesAsked: () => pagesAsked.get(list) ?? 0,
    async read(bytes: number) {
      for (let left = bytes; left > 0; ) {
        const part = await reader?.read();
        if (part?.value === undefined) throw new Error("The list has ended");
        left -= part.value.length;
      }
    },
    hangUp: () => client.abort(),
  };
}

/** Waits long: the machine may be busy. */
async function expectAbandoned(count: number) {
  await expect
    .poll(() => stack.events("list_abandoned").length, { timeout: 60_000 })
    .toBe(count);
}

test("a client that stops reading pauses its scan, and one that hangs up ends it", async () => {
  const list = await openList();
  const other = await openList();
  await other.read(20_000_000);
  const stalled = list.pagesAsked();
  // Only small buffers hold what is on its way to a client that has read nothing.
  expect(stalled).toBeLessThan(other.pagesAsked() * 0.75);

  await list.read((stalled + 1) * pageBytes);
  expect(list.pagesAsked()).toBeGreaterThan(stalled);

  list.hangUp();
  await expectAbandoned(1);
  const asked = list.pagesAsked();
  await other.read(10 * pageBytes);
  expect(list.pagesAsked()).toBe(asked);
  other.hangUp();
  await expectAbandoned(2);
  expect(stack.events("list_cut_off")).toEqual([]);
});
