import type { LambdaHost } from "../../infra/tools/local/lambda/lambda-host.ts";
import { unsignedCall } from "../helpers/unsigned-call.ts";
import { besides, byHand, sdkAlone } from "./row.ts";
import { cpuSoFar, inTurn, timed } from "./samples.ts";
import { hostBesideFloors, listEvent, putOrders, type Subject } from "./subject.ts";

/** Several, since the engine's own time varies, and a list's with it. */
const rounds = 5;

const bareScans = "bare Scans";

export async function lists(subject: Subject) {
  const { endpoint, ordersTable } = subject;
  await putOrders(subject, 0, 100_000);
  await using host = hostBesideFloors(subject, "ListOrders");
  const time = await inTurn(rounds, ["ours", byHand, bareScans], (name) =>
    timed(() =>
      name === bareScans ? bareScan(endpoint, ordersTable) : list(host, name),
    ),
  );
  const cpu = await inTurn(rounds, ["ours", sdkAlone, byHand], async (name) => {
    const before = await cpuSoFar(name);
    await list(host, name);
    return (await cpuSoFar(name)) - before;
  });
  const { [byHand]: signedByHand, ...ours } = time;
  const byHandTime = { ...ours, ours: signedByHand };
  return [
    ...besides("list of 100,000, time", ours),
    ...besides("a list of 100,000 signed by hand, time", byHandTime),
    ...besides("list of 100,000, CPU", cpu),
  ];
}

/** Reads a table, and parses only the start of the next page. */
async function bareScan(endpoint: string, table: string) {
  let lastId: string | undefined;
  do {
    const page = await scan(endpoint, {
      TableName: table,
      ProjectionExpression: "id, petId, quantity, shipDate, complete",
      ExclusiveStartKey: lastId === undefined ? undefined : { id: { N: lastId } },
    });
    lastId = /"LastEvaluatedKey":\{"id":\{"N":"(-?\d+)"\}\}/.exec(page)?.[1];
  } while (lastId !== undefined);
}

async function scan(endpoint: string, input: object) {
  const target = "DynamoDB_20120810.Scan";
  const response = await unsignedCall(endpoint, target, JSON.stringify(input));
  if (!response.ok) throw new Error(`A Scan got ${response.status}`);
  return await response.text();
}

/** Lists once, in milliseconds until the first and the last byte of the body. */
export async function list(host: LambdaHost, name: string, headers = {}) {
  const begun = performance.now();
  const response = await host.invoke(name, listEvent(headers));
  if (response.body === undefined) throw new Error("The list was not streamed");
  let firstByte = Number.NaN;
  let bytes = 0;
  for await (const chunk of response.body) {
    if (bytes === 0) firstByte = performance.now() - begun;
    bytes += chunk.length;
  }
  return { whole: performance.now() - begun, firstByte, bytes };
}
