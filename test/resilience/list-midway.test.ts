import { beforeAll, expect, test } from "vitest";
import { seedOrders } from "../../infra/tools/local/engine/tables.ts";
import { batches } from "../../infra/tools/orders-file/batches.ts";
import { beforeTests } from "../helpers/before-tests.ts";
import {
  type Behaviour,
  type EngineCall,
  passOn,
} from "../helpers/faults/fault-proxy.ts";
import { applied } from "../helpers/faults/faults.ts";
import { startFaultyStack } from "../helpers/faults/faulty-stack.ts";

const pageSize = 80;
const pages = 5;

/** Pages count from 1. */
type PageChoice = (page: number) => Behaviour | undefined;
// Of the list under way. There is one at a time.
let choosePage: PageChoice = () => undefined;
let pagesAsked = 0;
let text = "";

/** Makes pages small, and lets them meet the faults of the list under way. */
function choose({ operation, input, attempt }: EngineCall): Behaviour | undefined {
  if (operation !== "Scan") return undefined;
  const scan = JSON.parse(input);
  // A function that starts reads one order, to be ready.
  if (scan.Limit !== undefined) return undefined;
  if (attempt === 1) pagesAsked += 1;
  const behaviour = choosePage(pagesAsked) ?? passOn;
  const small = JSON.stringify({ ...scan, Limit: pageSize });
  return (exchange) => behaviour({ ...exchange, forward: () => exchange.forward(small) });
}

const stack = beforeTests((running) =>
  startFaultyStack(running, choose, { maxEnvironments: 1 }),
);
beforeAll(() => {
  const length = pageSize * pages - stack.seeded;
  const orders = Array.from({ length }, (_, index) => ({
    id: { N: String(20_000 + index) },
    petId: { N: "1" },
    status: { S: "pending" },
  }));
  const { signal } = new AbortController();
  return seedOrders(stack.client, stack.tables.orders, batches(orders), signal);
});

/** Resolves also with whether the response ended as HTTP requires. */
async function list(choice: PageChoice, encoding = "identity") {
  choosePage = choice;
  pagesAsked = 0;
  text = "";
  const response = await fetch(`${stack.baseUrl}/store/orders`, {
    headers: { authorization: `Bearer ${stack.apiKey}`, "accept-encoding": encoding },
    signal: AbortSignal.timeout(60_000),
  });
  const { status, headers, body } = response;
  let whole = false;
  try {
    for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? [])
      text += part;
    whole = true;
  } catch (error) {
    expect(error).toMatchObject({ message: "terminated" });
  }
  return { status, contentEncoding: headers.get("content-encoding"), whole };
}

const idsIn = (text: string) => text.match(/"id":-?\d+/g) ?? [];

test("a list whose third page can't be read is visibly cut off, and logged so", async () => {
  const before = stack.events("list_cut_off").length;
  const fault = applied["reset mid-body"];
  const received = await list((page) => (page === 3 ? fault : undefined), "gzip");
  expect(received).toEqual({ status: 200, contentEncoding: "gzip", whole: false });
  expect(() => JSON.parse(text)).toThrow();
  const message = { keyId: expect.stringMatching(/^key_/), orders: 2 * pageSize };
  await expect
    .poll(() => stack.events("list_cut_off").slice(before))
    .toMatchObject([{ level: "ERROR", message }]);
});

test.each(["identity", "gzip"])(
  "the whole first page arrives before the second one is there (%s)",
  async (encoding) => {
    const secondPage: Behaviour = async (exchange) => {
      await expect.poll(() => idsIn(text)).toHaveLength(pageSize);
      await passOn(exchange);
    };
    const received = await list(
      (page) => (page === 2 ? secondPage : undefined),
      encoding,
    );
    expect(received).toMatchObject({ status: 200, whole: true });
    expect(JSON.parse(text)).toHaveLength(pageSize * pages);
  },
);
