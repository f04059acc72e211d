import { listOnce } from "./list.ts";
import { startPageServer } from "./page-server.ts";
import { besides } from "./row.ts";
import { median, peakMegabytes } from "./samples.ts";
import { hostOfVariants, type Subject } from "./subject.ts";

/** Lists more and more orders: the longest list must hardly take more memory, or begin later. */
export async function growth(subject: Subject) {
  const samples = {
    ours: [await listGrowth(subject, 1_000_000)],
    "10,000": [await listGrowth(subject, 10_000)],
  };
  return [
    ...besides("list of 1,000,000", "peak memory", samples, "MB"),
    ...besides("list of 1,000,000", "first byte", samples),
  ];
}

/**
 * Lists `length` orders until one process has listed two million. V8 gives a process that has
 * worked more a larger young generation: only equal work shows a length's cost.
 */
async function listGrowth(subject: Subject, length: number) {
  await using pages = await startPageServer(length);
  await using host = hostOfVariants(subject, "ListOrders", ["ours"], pages.variables);
  const firstBytes: number[] = [];
  for (let listed = 0; listed < 2_000_000; listed += length)
    firstBytes.push((await listOnce(host, "ours")).firstByte);
  return {
    "peak memory": await peakMegabytes("ours"),
    // The first list started the process.
    "first byte": median(firstBytes.slice(1)),
  };
}
