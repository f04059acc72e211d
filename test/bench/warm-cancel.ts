import { besides, byHand, sdkAlone } from "./row.ts";
import { functionSampler, inTurn } from "./samples.ts";
import { cancelEvent, hostOfVariants, putOrders, type Subject } from "./subject.ts";

const names = ["ours", sdkAlone, byHand] as const;
const warmUpRounds = 2000;
const rounds = 1000;
/** `inTurn` makes one more round than asked for, each time. */
const cancels = names.length * (warmUpRounds + 1 + rounds + 1);

export async function warmCancel(subject: Subject) {
  await using host = hostOfVariants(subject, "CancelOrder", names);
  // Other orders than the lists'. These are too few to matter there.
  const ids = await putOrders(subject, 200_000, cancels);
  const cancel = async (name: string) => {
    const { returned } = await host.invoke(name, cancelEvent(ids.pop() ?? ""));
    if (Object(returned).statusCode !== 204) throw new Error("A cancel failed");
  };
  const sampleOf = functionSampler();
  const sample = (name: string) => sampleOf(name, () => cancel(name));
  await inTurn(warmUpRounds, names, sample);
  const samples = await inTurn(rounds, names, sample);
  return [
    ...besides("warm cancel", "time", samples),
    ...besides("warm cancel", "CPU", samples),
  ];
}
