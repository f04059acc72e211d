import { callDynamoDb } from "./dynamodb-http.ts";
import { cancelEvent } from "./events.ts";
import { type Row, ratioRow } from "./row.ts";
import { interleaved, timed } from "./samples.ts";
import { floorOf, hostOf, putOrders, type Subject } from "./subject.ts";

const runs = 400;
const warmUp = 200;

/** A cancellation by a function that is warm, beside a bare UpdateItem and an empty invocation. */
export async function warmCancel({ client, engine, functions, ordersTable }: Subject): Promise<Row> {
  const { CancelOrder } = functions;
  const empty = { ...floorOf(CancelOrder, "empty"), name: "Empty" };
  const host = hostOf(CancelOrder, empty);
  // Ids that the lists' orders don't have, and as few as not to matter there.
  let next = -10_000;
  await putOrders(client, ordersTable, next, next + 2 * (runs + warmUp + 1));
  const ours = (): Promise<number> =>
    timed(async () => {
      const answer = await host.invoke(CancelOrder.name, cancelEvent(next++));
      if (answer.kind !== "buffered" || !answer.payload.includes('"statusCode":204'))
        throw new Error("A cancel failed");
    });
  const floor = (): Promise<number> =>
    timed(async () => {
      await callDynamoDb(engine.endpoint, "UpdateItem", bareUpdate(ordersTable, next++));
      await host.invoke("Empty", cancelEvent(0));
    });
  try {
    await interleaved(warmUp - 1, ours, floor);
    const sample = await interleaved(runs, ours, floor);
    return ratioRow("warm cancel, p50", { ...sample, unit: "ms", digits: 2 }, { goal: 1.25, margin: 0.1 });
  } finally {
    await host.stop();
  }
}

function bareUpdate(table: string, id: number): object {
  return {
    TableName: table,
    Key: { id: { N: String(id) } },
    UpdateExpression: "SET #status = :cancelled, cancelledAt = :at, cancelledBy = :by, cancellationId = :id",
    ConditionExpression: "#status = :pending",
    ExpressionAttributeNames: { "#status": "status" },
    ExpressionAttributeValues: {
      ":cancelled": { S: "cancelled" },
      ":pending": { S: "pending" },
      ":at": { S: "2026-11-20T00:00:00.000Z" },
      ":by": { S: "key_bench" },
      ":id": { S: "00000000-0000-0000-0000-000000000000" },
    },
  };
}
