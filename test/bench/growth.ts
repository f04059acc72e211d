import { readFunctions } from "../../infra/local/functions.ts";
import type { FunctionDefinition } from "../../infra/local/lambda/runtime-process.ts";
import type { SynthesisedStack } from "../../infra/local/template/synthesis.ts";
import { type Listing, list } from "./list.ts";
import { startPageServer } from "./page-server.ts";
import { besides, type Measured } from "./row.ts";
import { median, peakMegabytes } from "./samples.ts";
import { functionOf, hostOf, type Subject } from "./subject.ts";

/**
 * How many orders are listed for each length of list. At least twice the longest: the first list
 * starts the process, and is not measured.
 */
const listedInAll = 2_000_000;

/** What is measured of lists of one length, in milliseconds and megabytes. */
export interface Growth {
  whole: number;
  firstByte: number;
  peakMemory: number;
  /** As sent, without compression and with. */
  plain: number;
  gzip: number;
}

/** Lists more and more orders: the longest list must hardly take more memory, or begin later. */
export async function growth({ stack }: Subject): Promise<Measured[]> {
  const shortest = await growthOf(stack, 10_000);
  const middle = await growthOf(stack, 100_000);
  const longest = await growthOf(stack, 1_000_000);
  const name = "list of 1,000,000";
  const memory = { ours: [longest.peakMemory], "10,000": [shortest.peakMemory] };
  const firstByte = { ours: [longest.firstByte], "10,000": [shortest.firstByte] };
  const whole = { ours: [longest.whole], "100,000": [middle.whole] };
  const sent = { ours: [longest.gzip], plain: [longest.plain] };
  return [
    ...besides(`${name}, peak memory`, memory, "MB", 0),
    ...besides(`${name}, first byte`, firstByte),
    ...besides(`${name}, whole`, whole, "ms", 0),
    ...besides(`${name}, as gzip`, sent, "MB"),
  ];
}

/** All pages take the same time: the engine's first one takes longer the more orders there are. */
async function growthOf(stack: SynthesisedStack, orders: number): Promise<Growth> {
  const pages = await startPageServer(orders);
  const listOrders = functionOf(readFunctions(stack, pages.endpoint), "ListOrders");
  return await listGrowth(listOrders, orders, listedInAll).finally(() => pages.close());
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
  const { name } = definition;
  const host = hostOf(definition);
  try {
    const listings: Listing[] = [];
    for (let listed = 0; listed < total; listed += length) listings.push(await list(host, name));
    const [pid] = host.pids(name);
    if (pid === undefined) throw new Error(`The process of ${name} has ended`);
    const peakMemory = peakMegabytes(pid);
    const compressed = await list(host, name, "gzip");
    // The first list started the process.
    const warm = listings.slice(1);
    return {
      whole: median(warm.map(({ whole }) => whole)),
      firstByte: median(warm.map(({ firstByte }) => firstByte)),
      peakMemory,
      plain: (listings.at(-1)?.bytes ?? Number.NaN) / 1e6,
      gzip: compressed.bytes / 1e6,
    };
  } finally {
    await host.stop();
  }
}
