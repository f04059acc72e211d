import type { LambdaHost } from "../../infra/local/lambda/lambda-host.ts";
import { byHand, goals, pairsRow, type Row, ratioRow, reported, sdkAlone } from "./row.ts";
import { inTurn, timed } from "./samples.ts";
import { cancelEvent, cpuSoFar, floorOf, hostOf, putOrders, type Subject } from "./subject.ts";

const warmUpRounds = 2000;
const rounds = 1000;
/** `inTurn` makes one more round than asked for, each time. */
const roundsInAll = warmUpRounds + 1 + rounds + 1;

/** Ids that the lists' orders don't have, and too few of them to matter there. */
const firstId = -20_000;

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
  await putOrders(client, ordersTable, firstId, firstId + 3 * roundsInAll);
  let nextId = firstId;
  const cancelNext = async (name: string): Promise<void> => {
    const event = cancelEvent(nextId);
    nextId += 1;
    const response = await host.invoke(name, event);
    if (response.kind !== "buffered" || !response.payload.includes('"statusCode":204'))
      throw new Error("A cancel failed");
  };
  const cancels = {
    ours: () => timed(() => cancelNext("ours")),
    sdk: () => timed(() => cancelNext("sdk")),
    byHand: () => timed(() => cancelNext("byHand")),
  };
  try {
    await inTurn(warmUpRounds, cancels);
    const before = cpuOfEach(host);
    const time = await inTurn(rounds, cancels);
    const after = cpuOfEach(host);
    const cpu = {
      ours: perRound(after.ours - before.ours),
      sdk: perRound(after.sdk - before.sdk),
      byHand: perRound(after.byHand - before.byHand),
    };
    const format = { unit: "ms", digits: 2 };
    const timeBesideSdk = { ours: time.ours, floor: time.sdk, ...format };
    const timeBesideByHand = { ours: time.ours, floor: time.byHand, ...format };
    const cpuBesideSdk = { ours: cpu.ours, floor: cpu.sdk, ...format };
    const cpuBesideByHand = { ours: cpu.ours, floor: cpu.byHand, ...format };
    return [
      pairsRow("warm cancel, p50", sdkAlone, timeBesideSdk, goals.warmCancel),
      ratioRow("warm cancel, CPU", sdkAlone, cpuBesideSdk, goals.warmCancelCpu),
      pairsRow("warm cancel, p50", byHand, timeBesideByHand, reported),
      ratioRow("warm cancel, CPU", byHand, cpuBesideByHand, reported),
    ];
  } finally {
    await host.stop();
  }
}

/** The CPU that each variant's process has used so far, in milliseconds. */
function cpuOfEach(host: LambdaHost) {
  return {
    ours: cpuSoFar(host, "ours"),
    sdk: cpuSoFar(host, "sdk"),
    byHand: cpuSoFar(host, "byHand"),
  };
}

/** `inTurn` makes one more round than asked for. */
function perRound(milliseconds: number): number {
  return milliseconds / (rounds + 1);
}
