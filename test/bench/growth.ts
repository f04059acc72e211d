import { readFunctions } from "../../infra/local/functions.ts";
import type { FunctionDefinition } from "../../infra/local/lambda/runtime-process.ts";
import type { SynthesisedStack } from "../../infra/template/synthesis.ts";
import { type Listing, list } from "./list.ts";
import { startPageServer } from "./page-server.ts";
import { besides, figure, figureText, type Measured, type Row } from "./row.ts";
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

/** Between a line of the table and a column, in the name of a figure. */
const separator = " orders: ";

type Column = [head: string, unit: string, digits: number, of: (growth: Growth) => number];

const columns: Column[] = [
  ["whole list", "ms", 0, ({ whole }) => whole],
  ["first byte", "ms", 0, ({ firstByte }) => firstByte],
  ["peak memory", "MB", 0, ({ peakMemory }) => peakMemory],
  ["sent plain", "MB", 1, ({ plain }) => plain],
  ["plain on AWS, computed", "s", 1, ({ whole, plain }) => secondsOnAws(whole, plain)],
  ["sent as gzip", "MB", 1, ({ gzip }) => gzip],
  ["gzip on AWS, computed", "s", 1, ({ whole, gzip }) => secondsOnAws(whole, gzip)],
];

/** Lists more and more orders: the longest list must hardly take more memory, or begin later. */
export async function growth({ stack }: Subject): Promise<Measured[]> {
  const shortest = await growthOf(stack, 10_000);
  const middle = await growthOf(stack, 100_000);
  const longest = await growthOf(stack, 1_000_000);
  const memory = { ours: [longest.peakMemory], "10,000": [shortest.peakMemory] };
  const firstByte = { ours: [longest.firstByte], "10,000": [shortest.firstByte] };
  const all = { "10,000": shortest, "100,000": middle, "1,000,000": longest };
  return [
    ...besides("list of 1,000,000, peak memory", memory, "MB", 0),
    ...besides("list of 1,000,000, first byte", firstByte),
    ...Object.entries(all).flatMap(([orders, growth]) =>
      columns.map(([head, unit, digits, of]) =>
        figure(`${orders}${separator}${head}`, of(growth), unit, digits),
      ),
    ),
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

/** A list's time and memory as it grows, as cells, the head first. */
export function growthTable(rows: Row[]): string[][] {
  const cells = rows.filter(({ name }) => name.includes(separator));
  const lines = Map.groupBy(cells, ({ name }) => name.split(separator)[0] ?? "");
  return [
    ["orders", ...columns.map(([head]) => head)],
    ...Array.from(lines, ([orders, line]) => [
      orders,
      ...line.map((row) => figureText(row.ours, row)),
    ]),
  ];
}

/** Lambda streams the first 6 MB of a response as fast as it can, and the rest at 2 MB a second. */
const unthrottledMegabytes = 6;
const megabytesPerSecond = 2;

/** Reading goes on while bytes are held back, so the slower of the two counts. */
function secondsOnAws(milliseconds: number, megabytes: number): number {
  return Math.max(milliseconds / 1000, (megabytes - unthrottledMegabytes) / megabytesPerSecond);
}
