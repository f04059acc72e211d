import { buffer } from "node:stream/consumers";
import type { FunctionId } from "./floors.ts";
import { startRationed } from "./rationed-function.ts";
import { besides, sdkAsItComes } from "./row.ts";
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

const variants = ["ours", sdkAsItComes] as const;

/** Cold starts as AWS runs them: with DynamoDB behind TLS and at a distance, and a rationed CPU. */
export async function coldStarts(subject: Subject) {
  await using cleanup = new AsyncDisposableStack();
  const engine = await startTlsEngine(subject.endpoint, cleanup);
  return [
    ...(await coldStart(subject, engine, "ListOrders", listEvent())),
    ...(await coldStart(subject, engine, "CancelOrder", cancelEvent("-1"))),
    ...(await coldStart(subject, engine, "Authorize", authorizeEvent(subject.apiKey))),
  ];
}

async function coldStart(
  { variantOf }: Subject,
  engine: Record<string, string>,
  id: FunctionId,
  event: unknown,
) {
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
  const name = `cold start of ${id}`;
  return [...besides(name, "time", samples), ...besides(name, "CPU", samples)];
}
