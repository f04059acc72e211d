import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { scanOrders } from "../../shared/orders-table.ts";

const table = mockClient(DynamoDBClient);
beforeEach(() => void table.reset());

const throttling = () => Object.assign(new Error("secret"), { name: "ThrottlingException" });
const order = (id: number) => ({ id: { N: String(id) } });

describe("scanning a table that throttles", () => {
  test("gives up a page that the table throttles at the deadline, not before, and pauses between its calls", async () => {
    table.on(ScanCommand).rejects(throttling());
    // Pauses of 250, 500 and 250 ms.
    const random = vi.spyOn(Math, "random").mockReturnValue(0.5);
    onTestFinished(() => random.mockRestore());
    const began = performance.now();
    const page = scanOrders(new DynamoDBClient({}), "orders", 1_000).next();
    await expect(page).rejects.toMatchObject({ code: "service_unavailable" });
    expect(performance.now() - began).toBeGreaterThanOrEqual(1_000);
    expect(table.calls().length).toBeGreaterThan(1);
    expect(table.calls().length).toBeLessThan(10);
  });

  test("gives each page a deadline of its own", async () => {
    const random = vi.spyOn(Math, "random").mockReturnValue(0.999);
    onTestFinished(() => random.mockRestore());
    table
      .on(ScanCommand)
      // The pauses for the first page take all of its deadline.
      .rejectsOnce(throttling())
      .rejectsOnce(throttling())
      .resolvesOnce({ Items: [order(1)], LastEvaluatedKey: { id: { N: "1" } } })
      .rejectsOnce(throttling())
      .resolvesOnce({ Items: [order(2)] });
    expect(await Array.fromAsync(scanOrders(new DynamoDBClient({}), "orders", 1_000))).toHaveLength(2);
  });
});
