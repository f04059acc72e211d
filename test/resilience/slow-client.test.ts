import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Behaviour } from "../helpers/faults/fault-proxy.ts";
import { type FaultyStack, startFaultyStack } from "../helpers/faults/faulty-stack.ts";
import { functionProcesses } from "../helpers/processes.ts";

const ordersPerPage = 3_000;
// Long numbers: buffers fill by the byte, and a page costs by the order.
const petId = { N: "9223372036854775807" };
const orders = Array.from({ length: ordersPerPage }, (_, id) => ({ id: { N: `${2n ** 62n + BigInt(id)}` }, petId }));
const items = JSON.stringify(orders);
/** The size of a page in the list. */
const pageBytes = orders.reduce((bytes, { id }) => bytes + `{"id":${id.N},"petId":${petId.N}},`.length, 0);
const buffers = await Promise.all(
  ["tcp_rmem", "tcp_wmem"].map(async (name) => {
    const limits = await readFile(`/proc/sys/net/ipv4/${name}`, "utf8").catch(() => undefined);
    // macOS has at most 8 MB, and nothing else has /proc.
    return limits === undefined ? 2 ** 23 : Number(limits.split(/\s+/)[2]);
  }),
);
// Bytes under way are in the buffers of two connections, and a few pages in the processes.
const mostUnderWay = buffers.reduce((sum, most) => sum + 2 * most, 10 * pageBytes);
let stack: FaultyStack;
/** How many pages each list has asked for, by the invocation of its first, the latest list last. */
const pagesAsked = new Map<string, number>();
let firstPageMayArrive: Promise<void> | undefined;
beforeAll(async () => {
  // An endless list: every page says there is a next one.
  const endless: Behaviour = async ({ input, invocation, response }) => {
    const after = JSON.parse(input).ExclusiveStartKey;
    const list = after?.list.S ?? invocation;
    pagesAsked.set(list, (pagesAsked.get(list) ?? 0) + 1);
    if (after === undefined) await firstPageMayArrive;
    const page = `{"Items":${items},"LastEvaluatedKey":{"id":{"N":"0"},"list":{"S":"${list}"}}}`;
    response.writeHead(200, { "content-type": "application/x-amz-json-1.0", "content-length": page.length }).end(page);
  };
  // A start that looks for its keys, and a function that gets ready, read from the engine.
  stack = await startFaultyStack(({ operation, input }) =>
    operation === "Scan" && JSON.parse(input).ProjectionExpression !== undefined ? endless : undefined,
  );
});
afterAll(() => stack?.stop());

function requestList(): ClientRequest {
  const headers = { authorization: `Bearer ${stack.apiKey}` };
  return request(`${stack.baseUrl}/store/orders`, { headers, agent: false })
    .on("error", () => {})
    .end();
}

async function openList() {
  const sent = requestList();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.on("error", () => {});
  const list = [...pagesAsked.keys()].at(-1) ?? "";
  return {
    response,
    received: 0,
    pagesAsked: () => pagesAsked.get(list) ?? 0,
    async read(bytes: number): Promise<void> {
      const until = this.received + bytes;
      while (this.received < until) {
        const chunk = response.read();
        if (chunk === null) await once(response, "readable");
        else this.received += chunk.length;
      }
    },
  };
}
type OpenList = Awaited<ReturnType<typeof openList>>;

/**
 * Resolves when a list asks for no page while another client's asks for forty: on a busy machine, both are slow. Fails
 * when the list has asked for more than can be on its way to its client.
 */
async function scanningStops(list: OpenList, other: OpenList): Promise<void> {
  for (let asked = -1; asked !== list.pagesAsked(); ) {
    asked = list.pagesAsked();
    expect(asked * pageBytes - list.received).toBeLessThan(mostUnderWay);
    for (const enough = other.pagesAsked() + 40; other.pagesAsked() < enough; ) await other.read(pageBytes);
  }
}

/**
 * Resolves when only so many processes that list are left. Here AWS's runtime client dies when its reader leaves; on AWS
 * the function is not notified, and may list on to the end.
 */
async function listsLeft(count: number): Promise<void> {
  const lists = async () => (await functionProcesses()).filter(({ name }) => name === "ListOrders");
  await vi.waitFor(async () => expect(await lists()).toHaveLength(count), { timeout: 60_000 });
}

test("a client that stops reading stops the scan; one that hangs up ends it", async () => {
  const list = await openList();
  const other = await openList();
  // The kernel gives a client that has read much a larger buffer, which takes long to fill.
  await scanningStops(list, other);
  const asked = list.pagesAsked();

  await list.read(5_000_000);
  await scanningStops(list, other);
  expect(list.pagesAsked()).toBeGreaterThan(asked);

  list.response.destroy();
  await listsLeft(1);
  const left = list.pagesAsked();
  await other.read(10 * pageBytes);
  expect(list.pagesAsked()).toBe(left);
  other.response.destroy();
  await listsLeft(0);
  expect(stack.events("list_cut_off")).toEqual([]);
});

test("a client that hangs up before its first page arrives ends its list, and the next one is served", async () => {
  for (let hungUp = 0; hungUp < 3; hungUp += 1) {
    const arrival = Promise.withResolvers<void>();
    firstPageMayArrive = arrival.promise;
    const lists = pagesAsked.size;
    const sent = requestList();
    await vi.waitFor(() => expect(pagesAsked.size).toBeGreaterThan(lists), { timeout: 60_000 });
    sent.destroy();
    arrival.resolve();
    await listsLeft(0);
  }
  const { response } = await openList();
  expect(response.statusCode).toBe(200);
  response.destroy();
});
