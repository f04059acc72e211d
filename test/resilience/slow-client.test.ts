import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Behaviour } from "../helpers/faults/fault-proxy.ts";
import { type FaultyStack, startFaultyStack } from "../helpers/faults/faulty-stack.ts";

const ordersPerPage = 10_000;
const orders = Array.from({ length: ordersPerPage }, (_, id) => ({ id: { N: `${id}` }, petId: { N: "1" } }));
const page = JSON.stringify({ Items: orders, Count: ordersPerPage, LastEvaluatedKey: { id: { N: "0" } } });
/** The size of a page in the list. */
const pageBytes = orders.reduce((bytes, { id }) => bytes + `{"id":${id.N},"petId":1},`.length, 0);
const buffers = await Promise.all(
  ["tcp_rmem", "tcp_wmem"].map(async (name) => {
    const [, , most] = (await readFile(`/proc/sys/net/ipv4/${name}`, "utf8")).split(/\s+/);
    return Number(most);
  }),
);
// Bytes under way are in the buffers of two connections, and a few pages in the processes.
const mostUnderWay = buffers.reduce((sum, most) => sum + 2 * most, 10 * pageBytes);
let stack: FaultyStack;
let pagesAsked = 0;
let firstPagesAsked = 0;
let firstPageMayArrive: Promise<void> | undefined;
let millisecondsPerPage: number;
beforeAll(async () => {
  // An endless list: every page says there is a next one.
  const endless: Behaviour = async ({ input, response }) => {
    pagesAsked += 1;
    if (JSON.parse(input).ExclusiveStartKey === undefined) {
      firstPagesAsked += 1;
      await firstPageMayArrive;
    }
    response.writeHead(200, { "content-type": "application/x-amz-json-1.0", "content-length": page.length }).end(page);
  };
  // A function that gets ready reads one order, from the engine.
  stack = await startFaultyStack(({ operation, input }) =>
    operation === "Scan" && JSON.parse(input).Limit === undefined ? endless : undefined,
  );
  const list = await openList();
  const began = performance.now();
  await list.read(10_000_000);
  millisecondsPerPage = (performance.now() - began) / pagesAsked;
  list.response.destroy();
  await listsAreGone();
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
  return {
    response,
    received: 0,
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

/** Resolves when no page has been asked for in the time that it takes to read thirty. */
async function scanningStops(): Promise<void> {
  for (let asked = -1; asked !== pagesAsked; ) {
    asked = pagesAsked;
    await setTimeout(30 * millisecondsPerPage);
  }
}

/**
 * Resolves when no process that listed is left. Here AWS's runtime client dies when its reader leaves; on AWS the
 * function is not notified, and may list on to the end.
 */
async function listsAreGone(): Promise<void> {
  await vi.waitFor(() => expect(stack.functions.pids("ListOrders")).toEqual([]), { timeout: 60_000 });
}

/** Resident memory of a process, in megabytes. */
async function memory(pid: number | undefined): Promise<number> {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

test("a client that stops reading stops the scan and costs no memory; one that hangs up ends it", async () => {
  const earlier = pagesAsked;
  const list = await openList();
  await list.read(30_000_000);
  await scanningStops();
  const [pid] = stack.functions.pids("ListOrders");
  const warm = await memory(pid);
  const asked = pagesAsked;

  for (let stall = 0; stall < 3; stall += 1) {
    await list.read(10_000_000);
    await scanningStops();
    expect((pagesAsked - earlier) * pageBytes - list.received).toBeLessThan(mostUnderWay);
  }
  expect(pagesAsked).toBeGreaterThan(asked);
  expect(await memory(pid)).toBeLessThan(warm * 1.25);

  list.response.destroy();
  await listsAreGone();
  const left = pagesAsked;
  await scanningStops();
  expect(pagesAsked).toBe(left);
  expect(stack.events("list_cut_off")).toEqual([]);
});

test("a client that hangs up before its first page arrives ends its list, and the next one is served", async () => {
  for (let hungUp = 0; hungUp < 3; hungUp += 1) {
    const arrival = Promise.withResolvers<void>();
    firstPageMayArrive = arrival.promise;
    const asked = firstPagesAsked;
    const sent = requestList();
    await vi.waitFor(() => expect(firstPagesAsked).toBeGreaterThan(asked), { timeout: 60_000 });
    sent.destroy();
    arrival.resolve();
    await listsAreGone();
  }
  const { response } = await openList();
  expect(response.statusCode).toBe(200);
  response.destroy();
});
