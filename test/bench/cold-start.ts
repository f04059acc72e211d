import { buffer } from "node:stream/consumers";
import type { FunctionId, Variant } from "./floors.ts";
import { cpuShare, startRationed } from "./rationed-function.ts";
import { besides, byHand, figure, sdkAlone, stockSdk } from "./row.ts";
import { cpuOf, inTurn, sampleOf } from "./samples.ts";
import {
  authorizeEvent,
  cancelEvent,
  listEvent,
  type Subject,
  withVariables,
} from "./subject.ts";
import { startTlsEngine } from "./tls-engine.ts";

/** Many: under a CPU quota, responses come in steps of its period. */
const rounds = 9;

const floors = [sdkAlone, byHand] as const;

/** Cold starts as AWS runs them: with DynamoDB behind TLS and at a distance, and a rationed CPU. */
export async function coldStarts(subject: Subject) {
  await using cleanup = new AsyncDisposableStack();
  const engine = await startEngine(subject, cleanup).catch((error: Error) => error);
  if (engine instanceof Error)
    return [{ ...figure("cold starts", Number.NaN, ""), unmeasured: engine.message }];
  return [
    ...(await coldStart(subject, engine, "ListOrders", listEvent(), floors)),
    ...(await coldStart(subject, engine, "CancelOrder", cancelEvent("-1"), floors)),
    ...(await coldStart(subject, engine, "Authorize", authorizeEvent(subject.apiKey))),
  ];
}

/** @throws Error when this machine can't run functions as AWS does. */
async function startEngine({ endpoint }: Subject, cleanup: AsyncDisposableStack) {
  cpuShare(1, cleanup);
  return await startTlsEngine(endpoint, cleanup);
}

async function coldStart(
  { variantOf }: Subject,
  engine: Record<string, string>,
  id: FunctionId,
  event: unknown,
  floors: readonly Variant[] = [],
) {
  const variants = ["ours", stockSdk, ...floors] as const;
  const samples = await inTurn(rounds, variants, async (variant) => {
    await using running = new AsyncDisposableStack();
    let pid: number | undefined;
    const start = async () => {
      const definition = withVariables(variantOf(id, variant), engine);
      const { invoke, environment } = await startRationed(definition, running);
      pid = environment.pid;
      const { body } = await invoke(event);
      if (body) await buffer(body);
    };
    return await sampleOf(start, () => cpuOf(pid));
  });
  const { ours, [stockSdk]: asItComes } = samples;
  const name = `cold start of ${id}`;
  return [
    ...besides(name, "time", { ours, [stockSdk]: asItComes }),
    ...besides(name, "CPU", samples),
  ];
}
