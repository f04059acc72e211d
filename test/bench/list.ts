import type { LambdaHost } from "../../infra/local/lambda/lambda-host.ts";
import { bareScan } from "./bare-scan.ts";
import { besides, byHand, type Measured, sdkAlone } from "./row.ts";
import { inTurn, timed } from "./samples.ts";
import { cpuSoFar, hostBesideFloors, listEvent, putOrders, type Subject } from "./subject.ts";

/** Several, since the engine's own time varies, and a list's with it. */
const rounds = 5;

const bareScans = "bare Scans";

/**
 * Lists 100,000 orders. The time stands beside bare Scans of the same engine, the CPU beside a
 * function that reads the same pages through the SDK and writes them by plain concatenation. A
 * function that signs its calls by hand is only reported: like any other it parses a page before it
 * can ask for the next one, and shows what the SDK costs.
 */
export async function lists(subject: Subject): Promise<Measured[]> {
  const { client, engine, functions, ordersTable } = subject;
  await putOrders(client, ordersTable, 0, 100_000);
  const host = hostBesideFloors(functions.ListOrders);
  try {
    const time = await inTurn(rounds, ["ours", byHand, bareScans], async (name) =>
      name === bareScans
        ? await timed(() => bareScan(engine.endpoint, ordersTable))
        : (await list(host, name)).whole,
    );
    const cpu = await inTurn(rounds, ["ours", sdkAlone, byHand], async (name) => {
      const before = cpuSoFar(host, name);
      await list(host, name);
      return cpuSoFar(host, name) - before;
    });
    const { ours, [byHand]: signedByHand, [bareScans]: floor } = time;
    return [
      ...besides("list of 100,000, time", { ours, [bareScans]: floor }, "ms", 0),
      ...besides(
        "a list of 100,000 signed by hand, time",
        { ours: signedByHand, [bareScans]: floor },
        "ms",
        0,
      ),
      ...besides("list of 100,000, CPU", cpu, "ms", 0),
    ];
  } finally {
    await host.stop();
  }
}

/** The time and bytes of one list. */
export interface Listing {
  /** Milliseconds until its last byte. */
  whole: number;
  /** Milliseconds until the first byte of the body. */
  firstByte: number;
  bytes: number;
}

/** Lists once, by the function of this name. */
export async function list(
  host: LambdaHost,
  name: string,
  acceptEncoding?: string,
): Promise<Listing> {
  const begun = performance.now();
  const response = await host.invoke(name, listEvent(acceptEncoding));
  if (response.kind !== "streamed") throw new Error("The list was not streamed");
  let firstByte: number | undefined;
  let bytes = 0;
  for await (const chunk of response.body) {
    firstByte ??= performance.now() - begun;
    bytes += chunk.length;
  }
  return { whole: performance.now() - begun, firstByte: firstByte ?? Number.NaN, bytes };
}
