import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { pacedCalls, rateOption } from "../../infra/admin/command.ts";
import { createProgram } from "../../infra/admin/program.ts";
import type { TableCalls } from "../../infra/admin/table-calls.ts";
import type { Target } from "../../infra/admin/target.ts";
import { environments } from "../../infra/environments.ts";

const client = new DynamoDBClient();
const target: Target = { environment: environments.production, ordersTable: "orders", apiKeysTable: "keys", client };

/** The calls of a command with these options, in production, and what is said about them. */
async function chosen(units: "reads" | "writes", options: string[]): Promise<{ calls?: TableCalls; said: string }> {
  const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const program = createProgram();
  const result: { calls?: TableCalls; said: string } = { said: "" };
  const command = program.command("write").addOption(rateOption());
  command.action(() => {
    result.calls = pacedCalls(command, target, units);
  });
  try {
    await program.parseAsync(["write", ...options], { from: "user" });
    result.said = stderr.mock.calls.map(([text]) => String(text)).join("");
    return result;
  } finally {
    stderr.mockRestore();
  }
}

/** How many milliseconds a second call waits for a first one that used ten units. */
async function wait(calls: TableCalls | undefined): Promise<number> {
  vi.useFakeTimers({ toFake: ["setTimeout", "performance"], fakeNodeBuiltins: true });
  onTestFinished(() => void vi.useRealTimers());
  await calls?.make(async () => ({ ConsumedCapacity: { CapacityUnits: 10 } }), 1);
  const began = performance.now();
  const second = calls?.make(async () => ({ ConsumedCapacity: { CapacityUnits: 1 } }), 1);
  await vi.runAllTimersAsync();
  await second;
  return performance.now() - began;
}

describe("the rate of a command", () => {
  test("is half of what the environment's tables serve, which it says", async () => {
    const [reads, writes] = [await chosen("reads", []), await chosen("writes", ["--env", "production"])];
    expect(reads.said).toBe("Using at most 6000 read units a second (--rate)\n");
    expect(writes.said).toBe("Using at most 1000 write units a second (--rate)\n");
    expect(await wait(writes.calls)).toBe(10);
  });

  test("is what the operator chooses", async () => {
    const { calls, said } = await chosen("writes", ["--local", "--rate", "50"]);
    expect(said).toBe("Using at most 50 write units a second (--rate)\n");
    expect(await wait(calls)).toBe(200);
    const { said: most } = await chosen("writes", ["--rate", "999999"]);
    expect(most).toBe("Using at most 999999 write units a second (--rate)\n");
  });

  test("has no limit on the local stack", async () => {
    const { calls, said } = await chosen("writes", ["--local"]);
    expect(said).toBe("");
    expect(calls).toBeDefined();
  });

  test.each(["0", "-1", "1.5", "many", "1000000"])("is not %s", async (rate) => {
    const error: unknown = await chosen("writes", [`--rate=${rate}`]).catch((error: unknown) => error);
    expect(error).toMatchObject({ exitCode: 2 });
  });
});
