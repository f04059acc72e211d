import {
  byHand,
  type Goal,
  goals,
  pairsRow,
  type Row,
  ratioRow,
  reported,
  sdkAlone,
} from "./row.ts";
import { cpuMilliseconds, inTurn, timed } from "./samples.ts";
import { cancelEvent, floorOf, hostOf, putOrders, type Subject } from "./subject.ts";

const warmUp = 2000;
const runs = 1000;

/**
 * A cancellation by a function that is warm: its time, and its process's CPU. The same call through
 * the SDK and nothing else is the floor of what we answer for; beside a call signed by hand it is
 * only reported.
 */
export async function warmCancel({ client, functions, ordersTable }: Subject): Promise<Row[]> {
  const { CancelOrder } = functions;
  const host = hostOf(
    { ...CancelOrder, name: "ours" },
    { ...floorOf(CancelOrder, "floor/sdk"), name: "sdk" },
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
    const used = (name: string): number => cpuMilliseconds(host.pids(name)[0] ?? 0);
    const before = { ours: used("ours"), sdk: used("sdk"), byHand: used("byHand") };
    const result = await inTurn(runs, cancels);
    // The round that `inTurn` throws away takes CPU, too.
    const perRound = (name: keyof typeof before): number =>
      (used(name) - before[name]) / (runs + 1);
    const cpu = { ours: perRound("ours"), sdk: perRound("sdk"), byHand: perRound("byHand") };
    const unit = { unit: "ms", digits: 2 };
    const rowsBeside = (
      floor: "sdk" | "byHand",
      beside: string,
      timeGoal: Goal,
      cpuGoal: Goal,
    ): Row[] => {
      const times = { ours: result.ours, floor: result[floor], ...unit };
      const work = { ours: cpu.ours, floor: cpu[floor], ...unit };
      return [
        pairsRow("warm cancel, p50", beside, times, timeGoal),
        ratioRow("warm cancel, CPU", beside, work, cpuGoal),
      ];
    };
    return [
      ...rowsBeside("sdk", sdkAlone, goals.warmCancel, goals.warmCancelCpu),
      ...rowsBeside("byHand", byHand, reported, reported),
    ];
  } finally {
    await host.stop();
  }
}
