import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Behaviour } from "../helpers/faults/fault-proxy.ts";
import { type FaultyStack, startFaultyStack } from "../helpers/faults/faulty-stack.ts";

const ordersPerPage = 10_000;
const orders = Array.from({ length: ordersPerPage }, (_, id) => ({ id: { N: `${id}` }, petId: { N: "1" } }));
const page = JSON.stringify({ Items: orders, Count: ordersPerPage, LastEvaluatedKey: { id: { N: "0" } } });
/** The size of a page in the list. */
const pageBytes = orders.reduce((bytes, { id }) => bytes + `{"id":${id.N},"petId":1},`.length, 0);
// What is under way is in the buffers of two connections, each of which Linux may let grow to nearly 40 MB.
const mostUnderWay = 80_000_000;
let stack: FaultyStack;
beforeAll(async () => {
  // An endless list: every page says there is a next one.
  const endless: Behaviour = ({ response }) => {
    response.writeHead(200, { "content-type": "application/x-amz-json-1.0", "content-length": page.length }).end(page);
  };
  stack = await startFaultyStack(({ operation }) => (operation === "Scan" ? endless : undefined));
});
afterAll(() => stack?.stop());

const pagesAsked = (): number => stack.proxy.attempts.get("Scan") ?? 0;

async function openList(): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${stack.apiKey}` };
  const [response] = await once(request(`${stack.baseUrl}/store/orders`, { headers, agent: false }).end(), "response");
  return response.on("error", () => {});
}

/** Resolves when no more pages are asked for, though a good deal else has happened meanwhile. */
async function scanningStops(): Promise<void> {
  for (let calm = 0, asked = -1; calm < 20; calm += 1) {
    await stack.call("/store/orders/none", { method: "DELETE" });
    if (asked !== pagesAsked()) calm = 0;
    asked = pagesAsked();
  }
}

/**
 * Resolves when a process that listed is gone. Here AWS's runtime client dies when its reader leaves; on AWS
 * the function is not notified, and may list on to the end.
 */
async function gone(pid: number | undefined): Promise<void> {
  await expect.poll(() => stack.functions.pids("ListOrders")).not.toContain(pid);
}

/** Resident memory of a process, in megabytes. */
async function memory(pid: number | undefined): Promise<number> {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

test("a client that stops reading stops the scan and costs no memory; one that hangs up ends it", async () => {
  const reader = await openList();
  let received = 0;
  const read = async (bytes: number): Promise<void> => {
    const until = received + bytes;
    while (received < until) {
      const chunk = reader.read();
      if (chunk === null) await once(reader, "readable");
      else received += chunk.length;
    }
  };
  await read(30_000_000);
  await scanningStops();
  const [pid] = stack.functions.pids("ListOrders");
  const warm = await memory(pid);
  const asked = pagesAsked();

  for (let stall = 0; stall < 3; stall += 1) {
    await read(10_000_000);
    await scanningStops();
    expect(pagesAsked() * pageBytes - received).toBeLessThan(mostUnderWay);
  }
  expect(pagesAsked()).toBeGreaterThan(asked);
  expect(await memory(pid)).toBeLessThan(warm * 1.25);

  reader.destroy();
  await gone(pid);
  const left = pagesAsked();
  await scanningStops();
  expect(pagesAsked()).toBe(left);
  const next = await openList();
  expect(next.statusCode).toBe(200);
  next.destroy();
  expect(stack.events("list_cut_off")).toEqual([]);
});

test("a client that hangs up before its response begins leaves nothing running", async () => {
  const headers = { authorization: `Bearer ${stack.apiKey}` };
  for (let hungUp = 0; hungUp < 10; hungUp += 1) {
    const sent = request(`${stack.baseUrl}/store/orders`, { headers, agent: false }).on("error", () => {});
    sent.end();
    await once(sent, "finish");
    sent.destroy();
  }
  await scanningStops();
  const response = await openList();
  expect(response.statusCode).toBe(200);
  response.destroy();
});
