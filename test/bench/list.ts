import type { LambdaHost } from "../../infra/local/lambda/lambda-host.ts";
import type { FunctionDefinition } from "../../infra/local/lambda/runtime-process.ts";
import { bareScan } from "./bare-scan.ts";
import { byHand, goals, pairsRow, type Row, ratioRow, reported, sdkAlone } from "./row.ts";
import { cpuMilliseconds, inTurn, median, peakMegabytes, timed } from "./samples.ts";
import { floorOf, hostOf, listEvent, type Subject } from "./subject.ts";

/** Enough for the spread of a list's time, which the engine's own makes wide. */
const runs = 21;

/**
 * The table's orders: the time beside bare Scans of the same engine, the CPU beside a function that
 * reads the same pages through the SDK and writes them by plain concatenation. Reported are the
 * time of a function that signs its calls by hand, which has to parse a page before it can ask for
 * the next one, too, and what the SDK costs beside it.
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
    const wall = await inTurn(runs, {
      ours: async () => (await list(hosts.ours)).milliseconds,
      byHand: async () => (await list(hosts.byHand)).milliseconds,
      floor: () => timed(() => bareScan(engine.endpoint, ordersTable)),
    });
    const cpu = await inTurn(runs, {
      ours: listCpu(hosts.ours),
      sdk: listCpu(hosts.sdk),
      byHand: listCpu(hosts.byHand),
    });
    const whole = { unit: "ms", digits: 0 };
    return [
      pairsRow(`list of ${orders}, time`, "bare Scans", { ...wall, ...whole }, goals.listTime),
      pairsRow(
        `a list of ${orders} signed by hand, time`,
        "bare Scans",
        { ours: wall.byHand, floor: wall.floor, ...whole },
        reported,
      ),
      pairsRow(
        `list of ${orders}, CPU`,
        sdkAlone,
        { ours: cpu.ours, floor: cpu.sdk, ...whole },
        goals.listCpu,
      ),
      pairsRow(
        `list of ${orders}, CPU`,
        byHand,
        { ours: cpu.ours, floor: cpu.byHand, ...whole },
        reported,
      ),
    ];
  } finally {
    await Promise.all(Object.values(hosts).map((host) => host.stop()));
  }
}

/**
 * Lists once and gives the CPU that the function's process used for it; the first list starts the
 * process.
 */
function listCpu(host: LambdaHost): () => Promise<number> {
  const used = (): number => cpuMilliseconds(host.pids("ListOrders")[0] ?? 0);
  return async () => {
    const before = host.pids("ListOrders").length === 0 ? 0 : used();
    await list(host);
    return used() - before;
  };
}

/** The time, memory and bytes of a list of some length. */
export interface Growth {
  /** Medians, in milliseconds. */
  wall: number;
  firstByte: number;
  /** The most memory that the function's process had, in megabytes. */
  peakMemory: number;
  /** Bytes of one list as sent, without compression and with. */
  plain: number;
  gzip: number;
}

/**
 * Lists the table's orders over and over in one process, until it has listed `total` orders, and
 * once more compressed. V8 gives a process that has worked more a larger young generation: only
 * processes that did the same work show what a list's length costs.
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
    const [pid = 0] = host.pids(definition.name);
    const peakMemory = peakMegabytes(pid);
    // The first one started the process.
    const warm = listings.slice(1);
    return {
      wall: median(warm.map((listing) => listing.milliseconds)),
      firstByte: median(warm.map((listing) => listing.firstByte)),
      peakMemory,
      plain: listings.at(-1)?.bytes ?? Number.NaN,
      gzip: (await list(host, "gzip")).bytes,
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

/** Lambda streams the first 6 MB of a response as fast as it can, and the rest at 2 MB a second. */
const unhurriedBytes = 6_000_000;
const bytesPerSecond = 2_000_000;

/**
 * A list's time and memory as it grows, as cells, the head first: measured on this machine and, for
 * streaming through Lambda, computed from the measured bytes: the least it can take.
 */
export function growthTable(growth: Map<number, Growth>): string[][] {
  const heads = ["orders", "whole list", "first byte", "peak memory"];
  // Reading goes on while bytes are held back, so the slower of the two counts.
  const onAws = (wall: number, bytes: number): string =>
    `${Math.max(wall / 1000, (bytes - unhurriedBytes) / bytesPerSecond).toFixed(1)} s`;
  const lines = [...growth].map(([size, { wall, firstByte, peakMemory, plain, gzip }]) => [
    size.toLocaleString("en"),
    `${wall.toFixed(0)} ms`,
    `${firstByte.toFixed(0)} ms`,
    `${peakMemory.toFixed(0)} MB`,
    ...[plain, gzip].flatMap((bytes) => [`${(bytes / 1e6).toFixed(1)} MB`, onAws(wall, bytes)]),
  ]);
  return [[...heads, "sent plain", "on AWS at least", "sent as gzip", "on AWS at least"], ...lines];
}

/** The longest list beside the shortest, which must take hardly more memory, or time to begin. */
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
