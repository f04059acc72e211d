import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, buildSync } from "esbuild";
import { createGateway } from "../../infra/local/gateway/gateway.ts";
import type { FunctionDefinition } from "../../infra/local/lambda/runtime-process.ts";
import { listen } from "../../infra/local/machine/ports.ts";
import { bundling } from "../../infra/stack/bundles.ts";
import { functionList } from "../../infra/stack/function-list.ts";
import { readRestApi } from "../../infra/template/rest-api.ts";
import { systemClock } from "../../shared/clock.ts";
import { send } from "../helpers/send.ts";
import { cpuShare, rationedHost } from "./rationed-host.ts";
import { byHand, type Goal, goals, notMeasured, pairsRow, type Row, reported } from "./row.ts";
import { inTurn, timed } from "./samples.ts";
import {
  authorizeEvent,
  cancelEvent,
  type FunctionName,
  floorOf,
  listEvent,
  type Subject,
} from "./subject.ts";
import { startTlsEngine } from "./tls-engine.ts";

/** A response under a CPU quota comes in steps of the quota's period, so it takes many. */
const runs = 31;

const names = ["ListOrders", "CancelOrder", "Authorize"] as const;
const sdkBundledAlike = "the SDK bundled alike";
const firstCancel = "first authorised cancel, nothing running";

/**
 * Cold starts as AWS runs them: DynamoDB behind TLS and at a distance, all of the CPU until a
 * function asks for its first event, the share of its memory from then on. Beside each stands the
 * least work made ready in the same way: with the SDK bundled as ours is, with the SDK as it comes,
 * and signed by hand.
 */
export async function coldStarts(subject: Subject): Promise<Row[]> {
  await using cleanup = new AsyncDisposableStack();
  let cold: Cold;
  try {
    const engine = await startTlsEngine(subject.engine.endpoint);
    cleanup.defer(() => engine.stop());
    const overTls = (definition: FunctionDefinition): FunctionDefinition => ({
      ...definition,
      environment: {
        ...definition.environment,
        AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
        NODE_EXTRA_CA_CERTS: engine.certificate,
      },
    });
    const sizes = new Set(
      Object.values(subject.functions).map(({ memoryMegabytes }) => memoryMegabytes),
    );
    const shares = new Map(
      sizes.values().map((size) => [size, cpuShare(size / wholeCpuMegabytes, cleanup)]),
    );
    cold = {
      subject,
      variants: await bundleSdk(cleanup),
      host: (...definitions) => rationedHost(definitions.map(overTls), shares),
    };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [...names.map((name) => `cold start of ${name}`), firstCancel].map((what) =>
      notMeasured(what, why),
    );
  }
  const rows: Row[] = [];
  for (const name of names) rows.push(...(await coldStart(cold, name)));
  return [...rows, await firstAuthorisedCancel(cold)];
}

/** Lambda gives a function of this size a whole CPU, and shares in proportion below. */
const wholeCpuMegabytes = 1769;

interface Cold {
  subject: Subject;
  /** Put the least work through the SDK in a function's place. */
  variants: Record<"sdk" | "sdkAsItComes", (definition: FunctionDefinition) => FunctionDefinition>;
  host: (...definitions: FunctionDefinition[]) => ReturnType<typeof rationedHost>;
}

/** Bundles the least work through the SDK: as our functions are, and without our changes. */
async function bundleSdk(cleanup: AsyncDisposableStack): Promise<Cold["variants"]> {
  const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-bench-"));
  cleanup.defer(() => rm(directory, { recursive: true }));
  const variant = (name: string, options: BuildOptions) => {
    const outdir = join(directory, name);
    const files = Object.values(functionList).map(({ id, file }) => ({
      out: id,
      in: fileURLToPath(new URL(`floor/sdk/${file.replace(/ts$/, "mjs")}`, import.meta.url)),
    }));
    buildSync({ ...options, entryPoints: files, outdir });
    return (definition: FunctionDefinition): FunctionDefinition => ({
      ...definition,
      directory: join(outdir, definition.name),
    });
  };
  return {
    sdk: variant("alike", bundling),
    sdkAsItComes: variant("as it comes", { ...bundling, alias: {}, define: {} }),
  };
}

/** Milliseconds of one start: until it asks for its first event, and on to a response. */
interface Start {
  init: number;
  first: number;
}

async function coldStart({ subject, variants, host }: Cold, name: FunctionName): Promise<Row[]> {
  const definition = subject.functions[name];
  const event = {
    ListOrders: listEvent(),
    CancelOrder: cancelEvent(-1),
    Authorize: authorizeEvent(subject.apiKey),
  }[name];
  const sample = async (tried: FunctionDefinition): Promise<Start> => {
    const functions = host(tried);
    try {
      const init = await timed(() => functions.start(tried.name));
      return { init, first: await timed(() => functions.respond(tried.name, event)) };
    } finally {
      await functions.stop();
    }
  };
  const starts = await inTurn(runs, {
    ours: () => sample(definition),
    sdk: () => sample(variants.sdk(definition)),
    sdkAsItComes: () => sample(variants.sdkAsItComes(definition)),
    byHand: () => sample(floorOf(definition)),
  });
  const whole = (samples: Start[]): number[] => samples.map(({ init, first }) => init + first);
  const first = (samples: Start[]): number[] => samples.map((start) => start.first);
  const beside = (what: string, floor: Start[], goal: Goal): Row =>
    pairsRow(
      `cold start of ${name}`,
      what,
      { ours: whole(starts.ours), floor: whole(floor), unit: "ms" },
      goal,
    );
  return [
    beside(sdkBundledAlike, starts.sdk, goals.coldStart),
    beside("the SDK as it comes", starts.sdkAsItComes, goals.coldStartAsItComes),
    beside(byHand, starts.byHand, reported),
    pairsRow(
      `cold start of ${name}, first response alone`,
      sdkBundledAlike,
      { ours: first(starts.ours), floor: first(starts.sdk), unit: "ms" },
      goals.firstResponse,
    ),
  ];
}

/** As a client sees it: the authorizer starts and responds, then the operation does. */
async function firstAuthorisedCancel({ subject, variants, host }: Cold): Promise<Row> {
  const { Authorize, CancelOrder } = subject.functions;
  const sample = async (...definitions: FunctionDefinition[]): Promise<number> => {
    const functions = host(...definitions);
    const serve = createGateway(readRestApi(subject.stack.template), functions, {
      clock: systemClock,
      log: () => {},
    });
    const listener = await listen(0, serve);
    try {
      return await timed(async () => {
        // An order that does not exist is as much work as one that does, and leaves nothing behind.
        const url = `http://127.0.0.1:${listener.port}/v1/store/orders/-1`;
        const headers = { authorization: `Bearer ${subject.apiKey}` };
        const { status, body } = await send(url, { method: "DELETE", headers });
        if (status !== 404) throw new Error(`The first cancel got ${status}: ${body}`);
      });
    } finally {
      await listener.close();
      await functions.stop();
    }
  };
  const samples = await inTurn(runs, {
    ours: () => sample(Authorize, CancelOrder),
    floor: () => sample(variants.sdk(Authorize), variants.sdk(CancelOrder)),
  });
  return pairsRow(firstCancel, sdkBundledAlike, { ...samples, unit: "ms" }, goals.firstCancel);
}
