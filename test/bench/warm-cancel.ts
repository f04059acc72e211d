import { cancelEvent } from "./events.ts";
import { cpuPerRound } from "./processes.ts";
import { goals, pairsRow, type Row, ratioRow, reported } from "./row.ts";
import { inTurn, timed } from "./samples.ts";
import { floorOf, hostOf, putOrders, type Subject, sdkFloorOf } from "./subject.ts";

const warmUp = 2000;
const runs = 1000;
const [ours, besideSdk] = ["warm cancel", ", beside the SDK alone"];
const [sdks, besideHand] = ["the SDK's warm cancel", ", beside a call signed by hand"];

/**
 * A cancellation by a function that is warm: its time, and its process's CPU. The same call through the SDK and nothing
 * else is the floor of what we answer for; what the SDK costs beside a call signed by hand is reported.
 */
export async function warmCancel({ client, functions, ordersTable }: Subject): Promise<Row[]> {
  const { CancelOrder } = functions;
  const host = hostOf(
    { ...CancelOrder, name: "ours" },
    { ...sdkFloorOf(CancelOrder), name: "sdk" },
    { ...floorOf(CancelOrder), name: "byHand" },
  );
  // Ids that the lists' orders don't have, and as few as not to matter there.
  let next = -20_000;
  await putOrders(client, ordersTable, next, next + 3 * (runs + warmUp + 2));
  const cancel = (name: string) => (): Promise<number> =>
    timed(async () => {
      const response = await host.invoke(name, cancelEvent(next++));
      if (response.kind !== "buffered" || !response.payload.includes('"statusCode":204')) {
        throw new Error("A cancel failed");
      }
    });
  const cancels = { ours: cancel("ours"), sdk: cancel("sdk"), byHand: cancel("byHand") };
  try {
    await inTurn(warmUp, cancels);
    const pid = (name: string): number => host.pids(name)[0] ?? 0;
    const pids = { ours: pid("ours"), sdk: pid("sdk"), byHand: pid("byHand") };
    // The round that `inTurn` throws away takes CPU, too.
    const { result, cpu } = await cpuPerRound(pids, runs + 1, () => inTurn(runs, cancels));
    const unit = { unit: "ms", digits: 2 };
    return [
      pairsRow(`${ours}, p50${besideSdk}`, { ours: result.ours, floor: result.sdk, ...unit }, goals.warmCancel),
      pairsRow(`${sdks}, p50${besideHand}`, { ours: result.sdk, floor: result.byHand, ...unit }, reported),
      ratioRow(`${ours}, CPU${besideSdk}`, { ours: cpu.ours, floor: cpu.sdk, ...unit }, goals.warmCancelCpu),
      ratioRow(`${sdks}, CPU${besideHand}`, { ours: cpu.sdk, floor: cpu.byHand, ...unit }, reported),
    ];
  } finally {
    await host.stop();
  }
}
