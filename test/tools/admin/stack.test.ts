import { expect, onTestFinished, test, vi } from "vitest";
import { environments } from "../../../infra/environments.ts";
import { startTestStack } from "../../helpers/test-stack.ts";
import { createTerminal, run } from "./terminal.ts";

const [stack, { pointTo }] = await Promise.all([startTestStack(), createTerminal()]);

const admin = async (command: string, input = "") => {
  const { baseUrl, dynamodbEndpoint, tables } = stack;
  await pointTo({
    startedAt: 0,
    baseUrl,
    dynamodbEndpoint,
    tables,
    accessKeyId: "local",
  });
  return await run(`${command} --local`, input);
};

test("the gateway accepts a revoked key until its cache expires", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const { stdout } = await admin("keys issue --name Acme --json");
  const { key, keyId } = JSON.parse(stdout);
  const list = async () => (await stack.call("/store/orders", {}, key)).status;
  expect(await list()).toBe(200);
  expect((await admin(`keys revoke ${keyId}`)).code).toBe(0);
  expect(await list()).toBe(200);
  vi.advanceTimersByTime(environments.staging.authorizerCacheSeconds * 1000 + 1);
  expect(await list()).toBe(401);
});

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
  const { code, stdout, stderr } = await admin("orders audit --log -", log);
  expect(code).toBe(1);
  expect(stdout.match(/^Order \d+ is pending/gm)?.sort()).toEqual([
    "Order 1001 is pending",
    "Order 1003 is pending",
  ]);
  expect(stderr).toBe(
    "4 cancellations: 2 stand, 2 undone, 0 reinstated since and not judged\n",
  );
});
