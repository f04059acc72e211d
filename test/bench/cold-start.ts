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
import { cpuShare, type LimitProcess, rationedHost } from "./rationed-host.ts";
import { byHand, goals, pairsRow, type Row, reported, unmeasuredRow } from "./row.ts";
import { inTurn, timed } from "./samples.ts";
import {
  authorizeEvent,
  cancelEvent,
  type FunctionId,
  floorOf,
  listEvent,
  type Subject,
} from "./subject.ts";
import { startTlsEngine } from "./tls-engine.ts";

/** Many, since a response under a CPU quota comes in steps of the quota's period. */
const rounds = 31;

/** Lambda gives a function of this size a whole CPU, and shares in proportion below. */
const wholeCpuMegabytes = 1769;

const functionIds = ["ListOrders", "CancelOrder", "Authorize"] as const;
const sdkBundledAlike = "the SDK bundled alike";
const firstCancel = "first authorised cancel, nothing running";

/**
 * Cold starts as AWS runs them: DynamoDB behind TLS and at a distance, all of the CPU until a
 * function asks for its first event, its memory's share of it from then on. Beside each stands the
 * least work made ready in the same way: with the SDK bundled as ours is, with the SDK as it comes,
 * and signed by hand.
 */
export async function coldStarts(subject: Subject): Promise<Row[]> {
  await using cleanup = new AsyncDisposableStack();
  let conditions: ColdConditions;
  try {
    conditions = await prepareConditions(subject, cleanup);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const rowNames = [...functionIds.map((id) => `cold start of ${id}`), firstCancel];
    return rowNames.map((name) => unmeasuredRow(name, reason));
  }
  const rows: Row[] = [];
  for (const id of functionIds) rows.push(...(await coldStart(conditions, id)));
  rows.push(await firstAuthorisedCancel(conditions));
  return rows;
}

interface ColdConditions {
  subject: Subject;
  variants: SdkVariants;
  /** Hosts functions that reach the engine over TLS, each with the CPU that Lambda gives it. */
  host: (...definitions: FunctionDefinition[]) => ReturnType<typeof rationedHost>;
}

/** Each puts the least work through the SDK in a function's place. */
interface SdkVariants {
  /** With the SDK bundled as our functions are. */
  alike: (definition: FunctionDefinition) => FunctionDefinition;
  /** With the SDK bundled without our changes. */
  asItComes: (definition: FunctionDefinition) => FunctionDefinition;
}

/** @throws Error when this machine can't run functions as AWS does. */
async function prepareConditions(
  subject: Subject,
  cleanup: AsyncDisposableStack,
): Promise<ColdConditions> {
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
  const shares = cpuShares(Object.values(subject.functions), cleanup);
  return {
    subject,
    variants: await bundleSdk(cleanup),
    host: (...definitions) => rationedHost(definitions.map(overTls), shares),
  };
}

function cpuShares(
  definitions: FunctionDefinition[],
  cleanup: AsyncDisposableStack,
): Map<number, LimitProcess> {
  const shares = new Map<number, LimitProcess>();
  // Functions of the same size share one group, which can't be made twice.
  for (const size of new Set(definitions.map(({ memoryMegabytes }) => memoryMegabytes)))
    shares.set(size, cpuShare(size / wholeCpuMegabytes, cleanup));
  return shares;
}

async function bundleSdk(cleanup: AsyncDisposableStack): Promise<SdkVariants> {
  const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-bench-"));
  cleanup.defer(() => rm(directory, { recursive: true }));
  const alike = join(directory, "alike");
  bundleFloor(alike, bundling);
  const asItComes = join(directory, "as it comes");
  bundleFloor(asItComes, { ...bundling, alias: {}, define: {} });
  return {
    alike: (definition) => ({ ...definition, directory: join(alike, definition.name) }),
    asItComes: (definition) => ({ ...definition, directory: join(asItComes, definition.name) }),
  };
}

/** Bundles the files of `floor/sdk`, each into a folder with its function's name. */
function bundleFloor(outdir: string, options: BuildOptions): void {
  const entryPoints = Object.values(functionList).map(({ id, file }) => ({
    out: id,
    in: fileURLToPath(new URL(`floor/sdk/${file.replace(/ts$/, "mjs")}`, import.meta.url)),
  }));
  buildSync({ ...options, entryPoints, outdir });
}

/** Milliseconds of one start: until it asks for its first event, and on to a response. */
interface Start {
  init: number;
  firstResponse: number;
}

async function coldStart(
  { subject, variants, host }: ColdConditions,
  id: FunctionId,
): Promise<Row[]> {
  const definition = subject.functions[id];
  const event = eventFor(id, subject.apiKey);
  const sample = async (variant: FunctionDefinition): Promise<Start> => {
    const functions = host(variant);
    try {
      const init = await timed(() => functions.start(variant.name));
      const firstResponse = await timed(() => functions.respond(variant.name, event));
      return { init, firstResponse };
    } finally {
      await functions.stop();
    }
  };
  const starts = await inTurn(rounds, {
    ours: () => sample(definition),
    sdk: () => sample(variants.alike(definition)),
    sdkAsItComes: () => sample(variants.asItComes(definition)),
    byHand: () => sample(floorOf(definition)),
  });
  const name = `cold start of ${id}`;
  return [
    pairsRow(name, sdkBundledAlike, wholeStarts(starts.ours, starts.sdk), goals.coldStart),
    pairsRow(
      name,
      "the SDK as it comes",
      wholeStarts(starts.ours, starts.sdkAsItComes),
      goals.coldStartAsItComes,
    ),
    pairsRow(name, byHand, wholeStarts(starts.ours, starts.byHand), reported),
    pairsRow(
      `${name}, first response alone`,
      sdkBundledAlike,
      {
        ours: starts.ours.map(({ firstResponse }) => firstResponse),
        floor: starts.sdk.map(({ firstResponse }) => firstResponse),
        unit: "ms",
      },
      goals.firstResponse,
    ),
  ];
}

function eventFor(id: FunctionId, apiKey: string): unknown {
  switch (id) {
    case "ListOrders":
      return listEvent();
    case "CancelOrder":
      return cancelEvent(-1);
    case "Authorize":
      return authorizeEvent(apiKey);
  }
}

function wholeStarts(ours: Start[], floor: Start[]) {
  const whole = ({ init, firstResponse }: Start): number => init + firstResponse;
  return { ours: ours.map(whole), floor: floor.map(whole), unit: "ms" };
}

/** As a client sees it: the authorizer starts and responds, then the operation does. */
async function firstAuthorisedCancel({ subject, variants, host }: ColdConditions): Promise<Row> {
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
  const samples = await inTurn(rounds, {
    ours: () => sample(Authorize, CancelOrder),
    floor: () => sample(variants.alike(Authorize), variants.alike(CancelOrder)),
  });
  return pairsRow(firstCancel, sdkBundledAlike, { ...samples, unit: "ms" }, goals.firstCancel);
}
