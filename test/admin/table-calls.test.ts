import { ConditionalCheckFailedException, DynamoDBClient, ThrottlingException } from "@aws-sdk/client-dynamodb";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { TableCalls } from "../../infra/admin/table-calls.ts";

const client = new DynamoDBClient();
let now = 0;

/** Calls at this rate, by a clock that only their waits move. */
function callsAt(rate?: number): TableCalls {
  const pause = async (milliseconds: number) => {
    now += milliseconds;
  };
  return new TableCalls(client, rate, { now: () => now, pause });
}

/** Calls ten units a second by a clock that stands still, and how long each waits. */
function standingStill() {
  const waits: number[] = [];
  const pause = async (milliseconds: number) => void waits.push(milliseconds);
  return { calls: new TableCalls(client, 10, { now: () => now, pause }), waits };
}

/** Sends what uses this many units, and says when. */
const sends = (units: number) => async () => ({ ConsumedCapacity: { CapacityUnits: units }, at: now });

beforeEach(() => {
  now = 5_000;
});

describe("calls to a table", () => {
  test("wait until what was used before is paid for", async () => {
    const calls = callsAt(100);
    const scan = async (units: number) => (await calls.make(sends(units), 0)).at;
    expect([await scan(50), await scan(200), await scan(1)]).toEqual([5_000, 5_500, 7_500]);
  });

  test("that are made again take another turn", async () => {
    const calls = callsAt(1);
    const pause = vi.spyOn(Math, "random").mockReturnValue(0);
    onTestFinished(() => pause.mockRestore());
    const throttled = new ThrottlingException({ $metadata: {}, message: "" });
    const send = vi.fn(sends(1)).mockRejectedValueOnce(throttled);
    expect((await calls.make(send, 1)).at).toBe(6_000);
  });

  test("save up nothing while there is nothing to do", async () => {
    const calls = callsAt(100);
    await calls.make(sends(10), 0);
    now = 60_000;
    const write = async () => (await calls.make(sends(1), 1)).at;
    expect([await write(), await write(), await write()]).toEqual([60_000, 60_010, 60_020]);
  });

  test("that are made at once take turns, each after what the others are likely to use", async () => {
    const { calls, waits } = standingStill();
    await Promise.all([1, 2, 3, 4].map(() => calls.make(sends(1), 1)));
    expect(waits).toEqual([100, 200, 300]);
  });

  test("each take as long as they are likely to use", async () => {
    const { calls, waits } = standingStill();
    const send = vi.spyOn(client, "send").mockResolvedValue({ ConsumedCapacity: {} } as never);
    onTestFinished(() => send.mockRestore());
    const read = { TableName: "orders", Key: {} };
    await calls.insert("orders", "id", {});
    await calls.get(read);
    await calls.get({ ...read, ConsistentRead: true });
    await calls.get(read);
    expect(waits).toEqual([100, 150, 250]);
  });

  test("wait for a throttled table no longer than until they are interrupted", async () => {
    const operator = new AbortController();
    const calls = new TableCalls(client, undefined, {
      now: () => now,
      pause: async (_milliseconds, signal) => signal?.throwIfAborted(),
    });
    const throttled = vi.fn(async (): Promise<never> => {
      operator.abort();
      throw Object.assign(new Error("Slow down"), { name: "ThrottlingException" });
    });
    await expect(calls.make(throttled, 0, operator.signal)).rejects.toThrow("aborted");
    expect(throttled).toHaveBeenCalledTimes(1);
  });

  test("wait for their turn no longer than until they are interrupted", async () => {
    const calls = new TableCalls(client, 1);
    await calls.make(sends(3), 0);
    await expect(calls.make(sends(1), 0, AbortSignal.abort())).rejects.toThrow("aborted");
  });

  test("take for their own what is there after a throttled call, of which an attempt may have been applied", async () => {
    const item = { id: { N: "1" }, status: { S: "pending" } };
    const once = { $metadata: { attempts: 1 }, message: "" };
    const send = vi
      .spyOn(client, "send")
      .mockRejectedValueOnce(new ThrottlingException(once))
      .mockRejectedValueOnce(new ConditionalCheckFailedException({ ...once, Item: item }));
    onTestFinished(() => send.mockRestore());
    expect(await callsAt().insert("orders", "id", item)).toBeUndefined();
    expect(send).toHaveBeenCalledTimes(2);
  });

  test("do not take for their own what is gone after a throttled call", async () => {
    const once = { $metadata: { attempts: 1 }, message: "" };
    const send = vi
      .spyOn(client, "send")
      .mockRejectedValueOnce(new ThrottlingException(once))
      .mockRejectedValueOnce(new ConditionalCheckFailedException(once));
    onTestFinished(() => send.mockRestore());
    const set = { status: { S: "shipped" } };
    expect(await callsAt().update("orders", {}, set, { ConditionExpression: "" })).toEqual({ found: undefined });
  });

  test("never wait without a rate", async () => {
    const calls = callsAt();
    await calls.make(sends(1_000_000), 1);
    expect((await calls.make(sends(1), 1)).at).toBe(5_000);
  });
});
