import type { LambdaHost } from "../../infra/local/lambda/lambda-host.ts";
import type { FunctionDefinition } from "../../infra/local/lambda/runtime-process.ts";
import { bareScan } from "./bare-scan.ts";
import { byHand, goals, pairsRow, type Row, ratioRow, reported, sdkAlone } from "./row.ts";
import { inTurn, median, peakMegabytes, timed } from "./samples.ts";
import { cpuSoFar, floorOf, hostOf, listEvent, type Subject } from "./subject.ts";

/** Many, since the engine's own time varies, and a list's with it. */
const rounds = 21;

/**
 * Lists the table's orders. The time stands beside bare Scans of the same engine, the CPU beside a
 * function that reads the same pages through the SDK and writes them by plain concatenation. A
 * function that signs its calls by hand is only reported: like any other it parses a page before it
 * can ask for the next one, and shows what the SDK costs.
 */
export async function listCost(
  { engine, functions: { ListOrders }, ordersTable }: Subject,
  orders: string,
): Promise<Row[]> {
  const hosts = {
    ours: hostOf(ListOrders),
    sdk: hostOf(floorOf(ListOrders, "floor/sdk")),
    byHand: hostOf(floorOf(ListOrders)),
  };
  try {
    const time = await inTurn(rounds, {
      ours: async () => (await list(hosts.ours)).milliseconds,
      byHand: async () => (await list(hosts.byHand)).milliseconds,
      floor: () => timed(() => bareScan(engine.endpoint, ordersTable)),
    });
    const cpu = await inTurn(rounds, {
      ours: () => listCpu(hosts.ours),
      sdk: () => listCpu(hosts.sdk),
      byHand: () => listCpu(hosts.byHand),
    });
    const format = { unit: "ms", digits: 0 };
    return [
      pairsRow(
        `list of ${orders}, time`,
        "bare Scans",
        { ours: time.ours, floor: time.floor, ...format },
        goals.listTime,
      ),
      pairsRow(
        `a list of ${orders} signed by hand, time`,
        "bare Scans",
        { ours: time.byHand, floor: time.floor, ...format },
        reported,
      ),
      pairsRow(
        `list of ${orders}, CPU`,
        sdkAlone,
        { ours: cpu.ours, floor: cpu.sdk, ...format },
        goals.listCpu,
      ),
      pairsRow(
        `list of ${orders}, CPU`,
        byHand,
        { ours: cpu.ours, floor: cpu.byHand, ...format },
        reported,
      ),
    ];
  } finally {
    await Promise.all(Object.values(hosts).map((host) => host.stop()));
  }
}

/** Lists once, and resolves with the CPU that the function's process used for it. */
async function listCpu(host: LambdaHost): Promise<number> {
  const before = cpuSoFar(host, "ListOrders");
  await list(host);
  return cpuSoFar(host, "ListOrders") - before;
}

/** The time, memory and bytes of a list of some length. */
export interface Growth {
  /** Medians, in milliseconds: until the end of the list, and until its first byte. */
  whole: number;
  firstByte: number;
  /** The most memory that the function's process had, in megabytes. */
  peakMemory: number;
  /** Bytes of one list as sent, without compression and with. */
  plain: number;
  gzip: number;
}

/**
 * Lists a table of `length` orders over and over in one process, until it has listed `total`
 * orders, and once more compressed. V8 gives a process that has worked more a larger young
 * generation: only processes that did the same work show what a list's length costs.
 */
export async function listGrowth(
  definition: FunctionDefinition,
  length: number,
  total: number,
): Promise<Growth> {
  const host = hostOf(definition);
  try {
    const listings: Listing[] = [];
    for (let listed = 0; listed < total; listed += length) listings.push(await list(host));
    const [pid] = host.pids(definition.name);
    if (pid === undefined) throw new Error(`The process of ${definition.name} has ended`);
    const peakMemory = peakMegabytes(pid);
    const compressed = await list(host, "gzip");
    // The first list started the process.
    const warm = listings.slice(1);
    return {
      whole: median(warm.map((listing) => listing.milliseconds)),
      firstByte: median(warm.map((listing) => listing.firstByte)),
      peakMemory,
      plain: listings.at(-1)?.bytes ?? Number.NaN,
      gzip: compressed.bytes,
    };
  } finally {
    await host.stop();
  }
}

/** The time and bytes of one list. */
interface Listing {
  milliseconds: number;
  /** Milliseconds until the first byte of the body. */
  firstByte: number;
  bytes: number;
}

async function list(host: LambdaHost, acceptEncoding?: string): Promise<Listing> {
  const begun = performance.now();
  const response = await host.invoke("ListOrders", listEvent(acceptEncoding));
  if (response.kind !== "streamed") throw new Error("The list was not streamed");
  let firstByte: number | undefined;
  let bytes = 0;
  for await (const chunk of response.body) {
    firstByte ??= performance.now() - begun;
    bytes += chunk.length;
  }
  return { milliseconds: performance.now() - begun, firstByte: firstByte ?? Number.NaN, bytes };
}

/**
 * A list's time and memory as it grows, as cells, the head first: measured on this machine, and the
 * least that it can take on AWS, computed from the measured bytes.
 */
export function growthTable(growthByOrders: Map<number, Growth>): string[][] {
  const head = [
    "orders",
    "whole list",
    "first byte",
    "peak memory",
    "sent plain",
    "on AWS at least",
    "sent as gzip",
    "on AWS at least",
  ];
  const lines = Array.from(growthByOrders, ([orders, growth]) => [
    orders.toLocaleString("en"),
    `${growth.whole.toFixed(0)} ms`,
    `${growth.firstByte.toFixed(0)} ms`,
    `${growth.peakMemory.toFixed(0)} MB`,
    `${(growth.plain / 1e6).toFixed(1)} MB`,
    `${secondsOnAws(growth.whole, growth.plain).toFixed(1)} s`,
    `${(growth.gzip / 1e6).toFixed(1)} MB`,
    `${secondsOnAws(growth.whole, growth.gzip).toFixed(1)} s`,
  ]);
  return [head, ...lines];
}

/** Lambda streams the first 6 MB of a response as fast as it can, and the rest at 2 MB a second. */
const unthrottledBytes = 6_000_000;
const bytesPerSecond = 2_000_000;

/** Reading goes on while bytes are held back, so the slower of the two counts. */
function secondsOnAws(milliseconds: number, bytes: number): number {
  return Math.max(milliseconds / 1000, (bytes - unthrottledBytes) / bytesPerSecond);
}

/** The longest list beside the shortest: it must hardly take more memory, or begin later. */
export function growthRows(small: Growth, large: Growth): Row[] {
  return [
    ratioRow(
      "list of 1,000,000, peak memory",
      "10,000",
      { ours: large.peakMemory, floor: small.peakMemory, unit: "MB", digits: 0 },
      goals.listMemory,
    ),
    ratioRow(
      "list of 1,000,000, first byte",
      "10,000",
      { ours: large.firstByte, floor: small.firstByte, unit: "ms" },
      goals.listFirstByte,
    ),
  ];
}
