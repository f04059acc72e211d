import { buffer } from "node:stream/consumers";
import { createGateway } from "../../infra/tools/local/gateway/gateway.ts";
import { listen } from "../../infra/tools/local/machine/ports.ts";
import { readRestApi } from "../../infra/tools/local/template/rest-api.ts";
import { send } from "../helpers/send.ts";
import { type FunctionId, sdkAsItComes, sdkBundledAlike } from "./floors.ts";
import { cpuShare, startRationed } from "./rationed-function.ts";
import { besides, byHand, figure } from "./row.ts";
import { inTurn, timed } from "./samples.ts";
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

const variants = ["ours", sdkBundledAlike, sdkAsItComes, byHand] as const;

/** Cold starts as AWS runs them: with DynamoDB behind TLS and at a distance, and a rationed CPU. */
export async function coldStarts(subject: Subject) {
  await using cleanup = new AsyncDisposableStack();
  const start = await prepareStarts(subject, cleanup).catch(
    (error: Error) => error.message,
  );
  if (typeof start === "string")
    return [{ ...figure("cold starts", Number.NaN, ""), unmeasured: start }];
  return [
    ...(await coldStart(start, "ListOrders", listEvent())),
    ...(await coldStart(start, "CancelOrder", cancelEvent("-1"))),
    ...(await coldStart(start, "Authorize", authorizeEvent(subject.apiKey))),
    ...(await firstAuthorisedCancel(start, subject)),
  ];
}

type Start = Awaited<ReturnType<typeof prepareStarts>>;

/** @throws Error when this machine can't run functions as AWS does. */
async function prepareStarts(
  { endpoint, functions, floorOf }: Subject,
  cleanup: AsyncDisposableStack,
) {
  cpuShare(1, cleanup);
  const engine = await startTlsEngine(endpoint, cleanup);
  return (id: FunctionId, variant: string, running: AsyncDisposableStack) => {
    const ours = withVariables(functions[id], engine);
    return startRationed(variant === "ours" ? ours : floorOf(variant, ours), running);
  };
}

async function coldStart(start: Start, id: FunctionId, event: unknown) {
  const starts = await inTurn(rounds, variants, async (variant) => {
    await using running = new AsyncDisposableStack();
    const begun = performance.now();
    const invoke = await start(id, variant, running);
    const ready = performance.now();
    const response = await invoke(event);
    if (response.body) await buffer(response.body);
    const ended = performance.now();
    return { whole: ended - begun, firstResponse: ended - ready };
  });
  const samples = (figure: "whole" | "firstResponse") =>
    Object.fromEntries(
      variants.map((name) => [name, starts[name].map((start) => start[figure])]),
    );
  const first = `cold start of ${id}, first response alone`;
  return [
    ...besides(`cold start of ${id}`, samples("whole")),
    ...besides(first, samples("firstResponse")).filter(
      ({ beside }) => beside === sdkBundledAlike,
    ),
  ];
}

/** As a client sees it: the authorizer starts and responds, then the operation does. */
async function firstAuthorisedCancel(start: Start, subject: Subject) {
  const api = readRestApi(subject.stack.template);
  const samples = await inTurn(rounds, ["ours", sdkBundledAlike], async (variant) => {
    await using running = new AsyncDisposableStack();
    const invoke = async (id: string, event: unknown) =>
      (await start(id as FunctionId, variant, running))(event);
    const gateway = createGateway(api, invoke, { log: () => {} });
    const { port, close } = await listen(0, gateway);
    running.defer(close);
    return await timed(async () => {
      // An order that does not exist is as much work as one that does, and leaves nothing behind.
      const url = `http://127.0.0.1:${port}/v1/store/orders/-1`;
      const headers = { authorization: `Bearer ${subject.apiKey}` };
      const { status, body } = await send(url, { method: "DELETE", headers });
      if (status !== 404) throw new Error(`The first cancel got ${status}: ${body}`);
    });
  });
  return besides("first authorised cancel, nothing running", samples);
}
