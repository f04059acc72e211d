import { expect, test } from "vitest";
import { beforeTests } from "../../helpers/before-tests.ts";
import { startTestStack } from "../../helpers/test-stack.ts";
import { run } from "../run.ts";
import { createTerminal } from "./terminal.ts";

const stack = beforeTests(startTestStack);
const { pointTo } = await createTerminal();

test("an audit of the stack's own log names exactly what was undone", async () => {
  const ids = ["1000", "1001", "1002", "1003"];
  const place = (N: string) => stack.putOrder({ id: { N }, status: { S: "pending" } });
  for (const id of ids) {
    await place(id);
    await stack.call(`/store/orders/${id}`, { method: "DELETE" });
  }
  for (const id of ["1001", "1003"]) await place(id);
  const logged = () => stack.log.filter((line) => line.includes("order_cancelled"));
  await expect.poll(logged).toHaveLength(ids.length);
  const log = stack.log.join("\n");
  const { baseUrl, dynamodbEndpoint, tables } = stack;
  await pointTo({
    startedAt: 0,
    baseUrl,
    dynamodbEndpoint,
    tables,
  });
  const { code, stdout, stderr } = await run("orders audit --log - --local", log);
  expect(code).toBe(1);
  expect(stdout.match(/^Order \d+ is pending/gm)?.sort()).toEqual([
    "Order 1001 is pending",
    "Order 1003 is pending",
  ]);
  expect(stderr).toBe(
    "4 cancellations: 2 stand, 2 undone, 0 reinstated since and not judged\n",
  );
});
