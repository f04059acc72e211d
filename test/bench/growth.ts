import type { FunctionDefinition } from "../../infra/tools/local/template/functions.ts";
import { list } from "./list.ts";
import { startPageServer } from "./page-server.ts";
import { besides } from "./row.ts";
import { median, peakMegabytes } from "./samples.ts";
import { hostOf, type Subject, withVariables } from "./subject.ts";

/** Lists more and more orders: the longest list must hardly take more memory, or begin later. */
export async function growth({ functions }: Subject) {
  // At least two lists of each length, since the first one starts the process.
  const growthTo = (length: number) =>
    listGrowth(functions.ListOrders, length, 2_000_000);
  const shortest = await growthTo(10_000);
  const middle = await growthTo(100_000);
  const { peakMemory, firstByte, whole, gzip, plain } = await growthTo(1_000_000);
  const row = (what: string, ours: number, name: string, floor: number, unit?: string) =>
    besides(`list of 1,000,000, ${what}`, { ours: [ours], [name]: [floor] }, unit);
  return [
    ...row("peak memory", peakMemory, "10,000", shortest.peakMemory, "MB"),
    ...row("first byte", firstByte, "10,000", shortest.firstByte),
    ...row("whole", whole, "100,000", middle.whole),
    ...row("as gzip", gzip, "plain", plain, "MB"),
  ];
}

/**
 * Lists `length` orders until one process has listed `total`, and once more compressed. V8 gives a
 * process that has worked more a larger young generation: only equal work shows a length's cost.
 */
async function listGrowth(definition: FunctionDefinition, length: number, total: number) {
  const { name } = definition;
  await using pages = await startPageServer(length);
  await using host = hostOf(withVariables(definition, pages.variables));
  const { bytes } = await list(host, name);
  const whole: number[] = [];
  const firstByte: number[] = [];
  for (let listed = length; listed < total; listed += length) {
    const listing = await list(host, name);
    whole.push(listing.whole);
    firstByte.push(listing.firstByte);
  }
  return {
    whole: median(whole),
    firstByte: median(firstByte),
    peakMemory: await peakMegabytes(name),
    plain: bytes / 1e6,
    gzip: (await list(host, name, { "Accept-Encoding": "gzip" })).bytes / 1e6,
  };
}
