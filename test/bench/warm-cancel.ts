import { besides, byHand, type Measured, sdkAlone } from "./row.ts";
import { inTurn, timed } from "./samples.ts";
import { cancelEvent, cpuSoFar, hostBesideFloors, putOrders, type Subject } from "./subject.ts";

const names = ["ours", sdkAlone, byHand];
const warmUpRounds = 2000;
const rounds = 1000;
/** `inTurn` makes one more round than asked for, each time. */
const cancels = names.length * (warmUpRounds + 1 + rounds + 1);

/** Ids that the lists' orders don't have, and too few of them to matter there. */
const firstId = -20_000;

/**
 * A cancellation by a function that is warm: its time, and its process's CPU. The same call through
 * the SDK and nothing else is the floor of what we answer for; beside a call signed by hand it is
 * only reported.
 */
export async function warmCancel({ client, functions, ordersTable }: Subject): Promise<Measured[]> {
  const host = hostBesideFloors(functions.CancelOrder);
  await putOrders(client, ordersTable, firstId, firstId + cancels);
  let nextId = firstId;
  const cancelNext = async (name: string): Promise<void> => {
    const event = cancelEvent(nextId);
    nextId += 1;
    const response = await host.invoke(name, event);
    if (response.kind !== "buffered" || !response.payload.includes('"statusCode":204'))
      throw new Error("A cancel failed");
  };
  const timedCancel = (name: string) => timed(() => cancelNext(name));
  try {
    await inTurn(warmUpRounds, names, timedCancel);
    const before = names.map((name) => cpuSoFar(host, name));
    const time = await inTurn(rounds, names, timedCancel);
    const cpu = names.map((name, index) => [
      name,
      [(cpuSoFar(host, name) - (before[index] ?? 0)) / (rounds + 1)],
    ]);
    return [
      ...besides("warm cancel, p50", time, "ms", 2),
      ...besides("warm cancel, CPU", Object.fromEntries(cpu), "ms", 2),
    ];
  } finally {
    await host.stop();
  }
}
