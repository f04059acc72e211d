import { besides, byHand, sdkAlone } from "./row.ts";
import { cpuSoFar, inTurn, timed } from "./samples.ts";
import { cancelEvent, hostBesideFloors, putOrders, type Subject } from "./subject.ts";

const names = ["ours", sdkAlone, byHand] as const;
const warmUpRounds = 2000;
const rounds = 1000;
/** `inTurn` makes one more round than asked for, each time. */
const cancels = names.length * (warmUpRounds + 1 + rounds + 1);

export async function warmCancel(subject: Subject) {
  await using host = hostBesideFloors(subject, "CancelOrder");
  // Other orders than the lists'. These are too few to matter there.
  const ids = await putOrders(subject, 200_000, cancels);
  const timedCancel = (name: string) =>
    timed(async () => {
      const { returned } = await host.invoke(name, cancelEvent(ids.pop() ?? ""));
      if (Object(returned).statusCode !== 204) throw new Error("A cancel failed");
    });
  const cpu = () =>
    Promise.all(names.map(async (name) => [name, await cpuSoFar(name)] as const));
  await inTurn(warmUpRounds, names, timedCancel);
  const before = Object.fromEntries(await cpu());
  const time = await inTurn(rounds, names, timedCancel);
  const used = (await cpu()).map(([name, after]) => [
    name,
    [(after - (before[name] ?? 0)) / (rounds + 1)],
  ]);
  return [
    ...besides("warm cancel, p50", time),
    ...besides("warm cancel, CPU", Object.fromEntries(used)),
  ];
}
