import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  ThrottlingException,
} from "@aws-sdk/client-dynamodb";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { TableCalls } from "../../../infra/tools/admin/table-calls.ts";
import { systemClock } from "../../../shared/clock.ts";

const client = new DynamoDBClient();
const failure = { $metadata: { attempts: 1 }, message: "Slow down" };
let now: number;
let waits: number[];
beforeEach(() => {
  now = 5000;
  waits = [];
  vi.spyOn(systemClock, "now").mockImplementation(() => now);
  // The clock stands still.
  vi.spyOn(systemClock, "pause").mockImplementation(async (milliseconds, signal) => {
    signal?.throwIfAborted();
    waits.push(milliseconds);
  });
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  return () => void vi.restoreAllMocks();
});

const using = (units: number) => async () => ({
  ConsumedCapacity: { CapacityUnits: units },
});
const throttled = () => Promise.reject(new ThrottlingException(failure));

const keys = [{ id: { N: "1" } }, { id: { N: "2" } }];

describe("calls to a table", () => {
  test("wait until the rate covers the units used before, but save up none while idle", async () => {
    const calls = new TableCalls(client, 100);
    for (const units of [50, 200, 1]) await calls.make(using(units), 0);
    now = 60_000;
    for (const units of [1, 1, 1]) await calls.make(using(units), 1);
    expect(waits).toEqual([500, 2500, 10, 20]);
  });

  test("made at once wait for what each is likely to use, and ask what they used", async () => {
    const send = vi.spyOn(client, "send").mockResolvedValue({} as never);
    const calls = new TableCalls(client, 10);
    await calls.insert("orders", "id", {});
    await calls.read("orders", "id", keys);
    await calls.read("orders", "id", keys, true);
    await calls.update("orders", "id", {}, {});
    await Array.fromAsync(calls.scan("orders"));
    expect(waits).toEqual([100, 200, 400, 500]);
    for (const [{ input }] of send.mock.calls)
      expect(input).toMatchObject({ ReturnConsumedCapacity: "TOTAL" });
  });

  test("are retried for a minute or so while the table throttles, each in its turn", async () => {
    await expect(new TableCalls(client).make(throttled, 1)).rejects.toThrow("Slow down");
    expect(waits).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 12_800, 15_000, 15_000]);
    waits = [];
    const once = vi.fn(using(1)).mockImplementationOnce(throttled);
    await new TableCalls(client, 1).make(once, 1);
    expect(waits).toEqual([100, 1000]);
  });

  test("stop waiting for a throttled table or for their turn when interrupted", async () => {
    const calls = new TableCalls(client, 1, AbortSignal.abort());
    const send = vi.fn(throttled);
    await expect(calls.make(send, 0)).rejects.toThrow("aborted");
    expect(send).toHaveBeenCalledTimes(1);
    await calls.make(using(3), 0);
    await expect(calls.make(using(1), 0)).rejects.toThrow("aborted");
  });

  test("read again what the table left out", async () => {
    const [one, two] = keys;
    const left = { orders: { Keys: [two], ConsistentRead: true } };
    const send = vi
      .spyOn(client, "send")
      .mockResolvedValueOnce({
        Responses: { orders: [one] },
        UnprocessedKeys: left,
      } as never)
      .mockResolvedValueOnce({ Responses: { orders: [two] } } as never);
    const find = await new TableCalls(client).read("orders", "id", keys, true);
    expect(keys.map(find)).toEqual(keys);
    expect(send.mock.lastCall?.[0].input).toMatchObject({ RequestItems: left });
  });

  test("find someone else's item unless an attempt of their own may have written it", async () => {
    const Item = { id: { N: "1" } };
    const send = vi.spyOn(client, "send").mockImplementationOnce(throttled);
    send.mockRejectedValueOnce(new ConditionalCheckFailedException({ ...failure, Item }));
    const written = await new TableCalls(client).insert("orders", "id", Item);
    expect(written).toEqual({ found: Item });
  });
});
