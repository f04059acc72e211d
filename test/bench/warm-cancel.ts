import { cancelEvent } from "./events.ts";
import { cpuMilliseconds } from "./processes.ts";
import { type Row, ratioRow } from "./row.ts";
import { median, pairs, timed } from "./samples.ts";
import { floorOf, hostOf, putOrders, type Subject } from "./subject.ts";

const warmUp = 2000;
const runs = 1000;
const bound = { goal: 1.4, margin: 0.1 };

/** A cancellation by a function that is warm, beside the least work: its time, and its process's CPU. */
export async function warmCancel({ client, functions, ordersTable }: Subject): Promise<Row[]> {
  const ours = functions.CancelOrder;
  const floor = floorOf(ours, "Floor");
  const host = hostOf(ours, floor);
  // Ids that the lists' orders don't have, and as few as not to matter there.
  let next = -20_000;
  await putOrders(client, ordersTable, next, next + 2 * (runs + warmUp + 2));
  const cancel = (name: string) => (): Promise<number> =>
    timed(async () => {
      const response = await host.invoke(name, cancelEvent(next++));
      if (response.kind !== "buffered" || !response.payload.includes('"statusCode":204')) {
        throw new Error("A cancel failed");
      }
    });
  const cpu = (): { ours: number; floor: number } => ({
    ours: cpuMilliseconds(host.pids(ours.name)[0] ?? 0),
    floor: cpuMilliseconds(host.pids(floor.name)[0] ?? 0),
  });
  try {
    await pairs(warmUp, cancel(ours.name), cancel(floor.name));
    const before = cpu();
    const samples = await pairs(runs, cancel(ours.name), cancel(floor.name));
    const after = cpu();
    const wall = { ours: median(samples.ours), floor: median(samples.floor) };
    const used = { ours: (after.ours - before.ours) / (runs + 1), floor: (after.floor - before.floor) / (runs + 1) };
    return [
      ratioRow("warm cancel, p50", { ...wall, unit: "ms", digits: 2 }, bound),
      ratioRow("warm cancel, CPU", { ...used, unit: "ms", digits: 2 }, bound),
    ];
  } finally {
    await host.stop();
  }
}
