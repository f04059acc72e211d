import type { LambdaHost } from "../../infra/local/lambda/lambda-host.ts";
import type { FunctionDefinition } from "../../infra/local/lambda/runtime-process.ts";
import { scanPages } from "./dynamodb-http.ts";
import { listEvent } from "./events.ts";
import { goals, reported } from "./goals.ts";
import { cpuMilliseconds, peakMegabytes } from "./processes.ts";
import { type Row, ratioRow } from "./row.ts";
import { inTurn, median, medians, timed } from "./samples.ts";
import { floorOf, hostOf, type Subject, sdkFloorOf } from "./subject.ts";

const runs = 9;

/**
 * The table's orders: the time beside bare Scans of the same engine, the CPU beside a function that reads the same pages
 * through the SDK and writes them by plain concatenation. What the SDK costs beside calls signed by hand is reported.
 */
export async function listCost(
  { engine, functions: { ListOrders }, ordersTable }: Subject,
  orders: string,
): Promise<Row[]> {
  const bareScan = async (): Promise<void> => {
    for await (const page of scanPages(engine.endpoint, ordersTable)) void page;
  };
  const hosts = { ours: hostOf(ListOrders), sdk: hostOf(sdkFloorOf(ListOrders)), byHand: hostOf(floorOf(ListOrders)) };
  try {
    const wall = medians(
      await inTurn(runs, { ours: async () => (await list(hosts.ours)).milliseconds, floor: () => timed(bareScan) }),
    );
    const cpu = medians(
      await inTurn(runs, { ours: listCpu(hosts.ours), sdk: listCpu(hosts.sdk), byHand: listCpu(hosts.byHand) }),
    );
    const plain = await list(hosts.ours);
    const gzip = await list(hosts.ours, "gzip");
    const whole = { unit: "ms", digits: 0 };
    return [
      ratioRow(`list of ${orders}, wall`, { ...wall, ...whole }, goals.listTime),
      ratioRow(
        `list of ${orders}, CPU, beside the SDK alone`,
        { ours: cpu.ours, floor: cpu.sdk, ...whole },
        goals.listCpu,
      ),
      ratioRow(
        `the SDK's list of ${orders}, CPU, beside calls signed by hand`,
        { ours: cpu.sdk, floor: cpu.byHand, ...whole },
        reported,
      ),
      ratioRow(`list of ${orders}, bytes sent, gzip beside plain`, megabytes(gzip, plain), reported),
      ratioRow(`list of ${orders}, wall, gzip beside plain`, milliseconds(gzip, plain), reported),
    ];
  } finally {
    await Promise.all(Object.values(hosts).map((host) => host.stop()));
  }
}

/** Lists once and gives the CPU that the function's process used for it; the first list starts the process. */
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
 * Lists the table's orders over and over in one process, until it has listed `total` orders, and once more compressed.
 * V8 gives a process that has worked more a larger young generation: only processes that did the same work show what a
 * list's length costs.
 */
export async function listGrowth(definition: FunctionDefinition, length: number, total: number): Promise<Growth> {
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

function megabytes(ours: Listing, floor: Listing) {
  return { ours: ours.bytes / 1e6, floor: floor.bytes / 1e6, unit: "MB" };
}

function milliseconds(ours: Listing, floor: Listing) {
  return { ours: ours.milliseconds, floor: floor.milliseconds, unit: "ms", digits: 0 };
}
