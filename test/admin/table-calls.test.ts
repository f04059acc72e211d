import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  ThrottlingException,
} from "@aws-sdk/client-dynamodb";
import { Command } from "commander";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { pacedCalls, rateOption } from "../../infra/admin/command.ts";
import { TableCalls } from "../../infra/admin/table-calls.ts";
import type { Target } from "../../infra/admin/target.ts";
import { systemClock } from "../../shared/clock.ts";
import { everyOption } from "../helpers/fixture-environments.ts";

const client = new DynamoDBClient();
let now = 0;

/** Calls at this rate, by a clock that only their waits move. */
function callsAt(rate?: number): TableCalls {
  const pause = async (milliseconds: number) => {
    now += milliseconds;
  };
  return new TableCalls(client, rate, { now: () => now, pause });
}

/** Calls at a rate of units a second, by a clock that stands still, and how long each waits. */
function standingStill(rate = 10) {
  const waits: number[] = [];
  const pause = async (milliseconds: number) => void waits.push(milliseconds);
  return { calls: new TableCalls(client, rate, { now: () => now, pause }), waits };
}

/** A call that uses this many units. It returns when it was made. */
const sends = (units: number) => async () => ({
  ConsumedCapacity: { CapacityUnits: units },
  at: now,
});

beforeEach(() => {
  now = 5_000;
});

describe("calls to a table", () => {
  test("wait until the rate covers the units that were used before", async () => {
    const calls = callsAt(100);
    const scan = async (units: number) => (await calls.make(sends(units), 0)).at;
    expect([await scan(50), await scan(200), await scan(1)]).toEqual([5_000, 5_500, 7_500]);
  });

  test("wait for another turn before a retry", async () => {
    const calls = callsAt(1);
    const random = vi.spyOn(Math, "random").mockReturnValue(0);
    onTestFinished(() => random.mockRestore());
    const throttled = new ThrottlingException({ $metadata: {}, message: "" });
    const send = vi.fn(sends(1)).mockRejectedValueOnce(throttled);
    expect((await calls.make(send, 1)).at).toBe(6_000);
  });

  test("save up no units while idle", async () => {
    const calls = callsAt(100);
    await calls.make(sends(10), 0);
    now = 60_000;
    const write = async () => (await calls.make(sends(1), 1)).at;
    expect([await write(), await write(), await write()]).toEqual([60_000, 60_010, 60_020]);
  });

  test("made at once each wait for the units that the earlier ones are likely to use", async () => {
    const { calls, waits } = standingStill();
    await Promise.all([1, 2, 3, 4].map(() => calls.make(sends(1), 1)));
    expect(waits).toEqual([100, 200, 300]);
  });

  test("reserve one unit, or half of one for an eventually consistent read", async () => {
    const { calls, waits } = standingStill();
    const send = vi.spyOn(client, "send").mockResolvedValue({ ConsumedCapacity: {} } as never);
    onTestFinished(() => send.mockRestore());
    const read = { TableName: "orders", Key: {} };
    await calls.insert("orders", "id", {});
    await calls.get(read);
    await calls.get({ ...read, ConsistentRead: true });
    await calls.getMany("orders", "id", [{ N: "1" }, { N: "2" }]);
    await calls.getMany("orders", "id", [{ N: "1" }, { N: "2" }], undefined, true);
    await calls.get(read);
    expect(waits).toEqual([100, 150, 250, 350, 550]);
  });

  test("ask DynamoDB for the units that they used", async () => {
    const send = vi.spyOn(client, "send").mockResolvedValue({} as never);
    onTestFinished(() => send.mockRestore());
    await callsAt().get({ TableName: "orders", Key: {} });
    await callsAt().insert("orders", "id", {});
    await callsAt().update("orders", {}, {}, {});
    await Array.fromAsync(callsAt().scan("orders"));
    const inputs = send.mock.calls.map(([{ input }]) => input);
    expect(inputs).toEqual(
      Array(4).fill(expect.objectContaining({ ReturnConsumedCapacity: "TOTAL" })),
    );
  });

  test("are retried for a minute or so while the table throttles", async () => {
    const random = vi.spyOn(Math, "random").mockReturnValue(0.5);
    onTestFinished(() => random.mockRestore());
    const { calls, waits } = standingStill(Number.POSITIVE_INFINITY);
    const throttled = async (): Promise<never> => {
      throw new ThrottlingException({ $metadata: {}, message: "Slow down" });
    };
    await expect(calls.make(throttled, 1)).rejects.toThrow("Slow down");
    expect(waits).toEqual([100, 250, 500, 1000, 2500, 5000, 10_000, 15_000, 15_000, 15_000]);
  });

  test("stop waiting for a throttled table when they are interrupted", async () => {
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

  test("stop waiting for their turn when they are interrupted", async () => {
    const calls = new TableCalls(client, 1);
    await calls.make(sends(3), 0);
    await expect(calls.make(sends(1), 0, AbortSignal.abort())).rejects.toThrow("aborted");
  });

  test("recognise as their own an item that a throttled attempt may have written", async () => {
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

  test("don't recognise as their own an item that has what they write, but changed since", async () => {
    const once = { $metadata: { attempts: 1 }, message: "" };
    const Item = { quantity: { N: "1" }, status: { S: "pending" } };
    const send = vi
      .spyOn(client, "send")
      .mockRejectedValueOnce(new ThrottlingException(once))
      .mockRejectedValueOnce(new ConditionalCheckFailedException({ ...once, Item }));
    onTestFinished(() => send.mockRestore());
    const change = { quantity: { N: "1" } };
    const read = { status: { S: "shipped" } };
    const unmet = await callsAt().update("orders", { id: { N: "1" } }, change, read);
    expect(unmet).toEqual({ found: Item });
  });
});

/** The calls of a command line with these options, and what it prints about them. */
function chosen(
  units: "reads" | "writes",
  options: string[],
): { calls: TableCalls; said: unknown } {
  const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  onTestFinished(() => stderr.mockRestore());
  const command = new Command().addOption(rateOption()).option("--local").exitOverride();
  const target: Target = {
    environment: everyOption,
    ordersTable: "orders",
    apiKeysTable: "keys",
    client,
  };
  const calls = pacedCalls(command.parse(options, { from: "user" }), target, units);
  return { calls, said: stderr.mock.lastCall?.[0] };
}

describe("the rate of a command", () => {
  test("is half of the table throughput that the environment sets", () => {
    expect(chosen("reads", []).said).toBe("Using at most 4,500 read units a second (--rate)\n");
    expect(chosen("writes", []).said).toBe("Using at most 750 write units a second (--rate)\n");
  });

  test("is what the operator chooses", async () => {
    const { calls, said } = chosen("writes", ["--local", "--rate", "50"]);
    expect(said).toBe("Using at most 50 write units a second (--rate)\n");
    vi.spyOn(systemClock, "now").mockReturnValue(5_000);
    const pause = vi.spyOn(systemClock, "pause").mockResolvedValue();
    onTestFinished(() => void vi.restoreAllMocks());
    await calls.make(sends(10), 1);
    await calls.make(sends(1), 1);
    expect(pause).toHaveBeenCalledExactlyOnceWith(200, undefined);
    expect(chosen("writes", ["--rate", "999999"]).said).toContain("999,999 write units");
  });

  test("has no limit on the local stack", () => {
    expect(chosen("writes", ["--local"]).said).toBeUndefined();
  });

  test.each(["0", "-1", "1.5", "many", "1000000"])("can't be %s", (rate) => {
    expect(() => chosen("writes", [`--rate=${rate}`])).toThrow(
      "Must be a whole number from 1 to 999999.",
    );
  });
});
