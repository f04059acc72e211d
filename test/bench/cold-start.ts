import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, buildSync } from "esbuild";
import { createGateway } from "../../infra/local/gateway/gateway.ts";
import type { FunctionDefinition } from "../../infra/local/lambda/runtime-process.ts";
import { listen } from "../../infra/local/machine/ports.ts";
import { readRestApi } from "../../infra/local/template/rest-api.ts";
import { bundling } from "../../infra/stack/bundles.ts";
import { functionList } from "../../infra/stack/function-list.ts";
import { systemClock } from "../../shared/clock.ts";
import { send } from "../helpers/send.ts";
import { cpuShare, type LimitProcess, rationedHost } from "./rationed-host.ts";
import { besides, byHand, type Measured, unmeasured } from "./row.ts";
import { inTurn, mapSamples, timed } from "./samples.ts";
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
const rounds = 9;

/** Lambda gives a function of this size a whole CPU, and shares in proportion below. */
const wholeCpuMegabytes = 1769;

const functionIds = ["ListOrders", "CancelOrder", "Authorize"] as const;
const sdkBundledAlike = "the SDK bundled alike";
const sdkAsItComes = "the SDK as it comes";
const firstCancel = "first authorised cancel, nothing running";

/**
 * Cold starts as AWS runs them: DynamoDB behind TLS and at a distance, all of the CPU until a
 * function asks for its first event, its memory's share of it from then on. Beside each stands the
 * least work made ready in the same way: with the SDK bundled as ours is, with the SDK as it comes,
 * and signed by hand.
 */
export async function coldStarts(subject: Subject): Promise<Measured[]> {
  await using cleanup = new AsyncDisposableStack();
  let conditions: ColdConditions;
  try {
    conditions = await prepareConditions(subject, cleanup);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const names = [...functionIds.map((id) => `cold start of ${id}`), firstCancel];
    return names.map((name) => unmeasured(name, reason));
  }
  const measured: Measured[] = [];
  for (const id of functionIds) measured.push(...(await coldStart(conditions, id)));
  return [...measured, ...(await firstAuthorisedCancel(conditions))];
}

interface ColdConditions {
  subject: Subject;
  /** A function, and the least work in its place, by the rows' names. */
  variantsOf: (definition: FunctionDefinition) => Variants;
  /** Hosts functions that reach the engine over TLS, each with the CPU that Lambda gives it. */
  host: (...definitions: FunctionDefinition[]) => ReturnType<typeof rationedHost>;
}

const names = ["ours", sdkBundledAlike, sdkAsItComes, byHand] as const;
type Variants = Record<(typeof names)[number], FunctionDefinition>;

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
    variantsOf: await bundleSdk(cleanup),
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

const { "@aws-sdk/client-dynamodb": _, ...alias } = bundling.alias;
const replacement = (file: string) => fileURLToPath(new URL(`floor/sdk/${file}`, import.meta.url));
const nodeBuiltins = replacement("node-builtins.ts");

/** As the functions were bundled while they had the SDK's own client. The floor stays there. */
const sdkBundling: BuildOptions = {
  ...bundling,
  define: {
    "process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED": JSON.stringify("true"),
  },
  alias: {
    ...alias,
    "@smithy/core/event-streams": replacement("no-event-streams.ts"),
    "node:crypto": nodeBuiltins,
    "node:os": nodeBuiltins,
    "node:process": nodeBuiltins,
  },
};

async function bundleSdk(cleanup: AsyncDisposableStack): Promise<ColdConditions["variantsOf"]> {
  const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-bench-"));
  cleanup.defer(() => rm(directory, { recursive: true }));
  const alike = join(directory, "alike");
  bundleFloor(alike, sdkBundling);
  const asItComes = join(directory, "as it comes");
  bundleFloor(asItComes, { ...bundling, alias: {} });
  return (definition) => ({
    ours: definition,
    [sdkBundledAlike]: { ...definition, directory: join(alike, definition.name) },
    [sdkAsItComes]: { ...definition, directory: join(asItComes, definition.name) },
    [byHand]: floorOf(definition),
  });
}

/** Bundles the files of `floor/sdk`, each into a folder with its function's name. */
function bundleFloor(outdir: string, options: BuildOptions): void {
  const entryPoints = Object.values(functionList).map(({ id, file }) => ({
    out: id,
    in: fileURLToPath(new URL(`floor/sdk/${file.replace(/ts$/, "mjs")}`, import.meta.url)),
  }));
  buildSync({ ...options, entryPoints, outdir });
}

async function coldStart(
  { subject, variantsOf, host }: ColdConditions,
  id: FunctionId,
): Promise<Measured[]> {
  const variants = variantsOf(subject.functions[id]);
  const event = eventFor(id, subject.apiKey);
  const starts = await inTurn(rounds, names, async (name) => {
    const functions = host(variants[name]);
    try {
      const init = await timed(() => functions.start(id));
      const firstResponse = await timed(() => functions.respond(id, event));
      return { init, firstResponse };
    } finally {
      await functions.stop();
    }
  });
  const whole = mapSamples(starts, ({ init, firstResponse }) => init + firstResponse);
  const { ours, [sdkBundledAlike]: alike } = mapSamples(starts, (start) => start.firstResponse);
  return [
    ...besides(`cold start of ${id}`, whole),
    ...besides(`cold start of ${id}, first response alone`, { ours, [sdkBundledAlike]: alike }),
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

/** As a client sees it: the authorizer starts and responds, then the operation does. */
async function firstAuthorisedCancel({
  subject,
  variantsOf,
  host,
}: ColdConditions): Promise<Measured[]> {
  const authorize = variantsOf(subject.functions.Authorize);
  const cancelOrder = variantsOf(subject.functions.CancelOrder);
  const samples = await inTurn(rounds, names.slice(0, 2), async (name) => {
    const functions = host(authorize[name], cancelOrder[name]);
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
  });
  return besides(firstCancel, samples);
}
