import type { OrderItem } from "../../shared/order.ts";
import { unsignedCall } from "../helpers/unsigned-call.ts";
import type { Variant } from "./floors.ts";
import { type Change, startPageServer } from "./page-server.ts";
import { besides, byHand, sdkAlone, stockSdk } from "./row.ts";
import { functionSampler, inTurn, sampleOf } from "./samples.ts";
import {
  type hostOf,
  hostOfVariants,
  listEvent,
  putOrders,
  type Subject,
} from "./subject.ts";

/** Several, since the engine's own time varies, and a list's with it. */
const rounds = 5;

const leastWork = ["ours", sdkAlone, byHand] as const;
const slowWay = ["ours", stockSdk] as const;
const gzip = { "Accept-Encoding": "gzip" };

export async function lists(subject: Subject) {
  return [
    ...(await timeOfList(subject)),
    ...(await cpuOfList(subject, "list of 100,000")),
    ...(await cpuOfList(subject, "list of 100,000 with exceptions", leastWork, some)),
    ...(await cpuOfList(subject, "list of 100,000 exceptions", slowWay, unusual)),
    ...(await cpuOfList(subject, "gzip list of 100,000", leastWork, undefined, gzip)),
  ];
}

/** Of ten orders, one lacks a field, one has 19 digits, and one has a wrong type. */
function some(order: OrderItem, index: number): OrderItem {
  const { shipDate: _, ...incomplete } = order;
  if (index % 10 === 0) return incomplete;
  if (index % 10 === 3) return { ...order, petId: { N: "1234567890123456789" } };
  return index % 10 === 6 ? { ...order, quantity: { NULL: true } } : order;
}

/** An order that leaves its page to the SDK. */
function unusual(order: OrderItem): OrderItem {
  return { ...order, quantity: { L: [] } };
}

async function cpuOfList(
  subject: Subject,
  list: string,
  names: readonly Variant[] = leastWork,
  change?: Change,
  headers = {},
) {
  await using pages = await startPageServer(100_000, change);
  await using host = hostOfVariants(subject, "ListOrders", names, pages.variables);
  const sample = functionSampler();
  const samples = await inTurn(rounds, names, (name) =>
    sample(name, () => listOnce(host, name, headers)),
  );
  return besides(list, "CPU", samples);
}

async function timeOfList(subject: Subject) {
  await putOrders(subject, 0, 100_000);
  await using host = hostOfVariants(subject, "ListOrders", ["ours"]);
  const samples = await inTurn(rounds, ["ours", "bare Scans"], (name) =>
    sampleOf(() => (name === "ours" ? listOnce(host, name) : bareScans(subject))),
  );
  return besides("list of 100,000", "time", samples);
}

/** Reads the table, and parses only the start of the next page. */
async function bareScans({ endpoint, ordersTable }: Subject) {
  let lastId: string | undefined;
  do {
    const input = {
      TableName: ordersTable,
      ProjectionExpression: "id, petId, quantity, shipDate, complete",
      ExclusiveStartKey: lastId === undefined ? undefined : { id: { N: lastId } },
    };
    const target = "DynamoDB_20120810.Scan";
    const response = await unsignedCall(endpoint, target, JSON.stringify(input));
    if (!response.ok) throw new Error(`A Scan got ${response.status}`);
    const page = await response.text();
    lastId = /"LastEvaluatedKey":\{"id":\{"N":"(-?\d+)"\}\}/.exec(page)?.[1];
  } while (lastId !== undefined);
}

/** Lists once. @returns the milliseconds until the first byte of the body, and its bytes. */
export async function listOnce(
  host: ReturnType<typeof hostOf>,
  name: string,
  headers = {},
) {
  const begun = performance.now();
  const { body } = await host.invoke(name, listEvent(headers));
  if (body === undefined) throw new Error("The list was not streamed");
  let firstByte = Number.NaN;
  let bytes = 0;
  for await (const chunk of body) {
    if (bytes === 0) firstByte = performance.now() - begun;
    bytes += chunk.length;
  }
  return { firstByte, bytes };
}
