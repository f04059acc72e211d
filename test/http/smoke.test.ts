import { afterAll, beforeAll, expect, test } from "vitest";
import { smokeChecks } from "../../infra/smoke/checks.ts";
import { smoke } from "../../infra/smoke/smoke.ts";
import { startTestStack, type TestStack } from "../helpers/test-stack.ts";

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack?.stop());

test("the local stack passes the smoke test", async () => {
  const cancel = "201";
  const { baseUrl, apiKey } = stack;
  const lines = await Array.fromAsync(smoke({ baseUrl, apiKey, cancel }));
  const passes = Object.keys(smokeChecks(cancel)).map((text) => ({ kind: "pass", text }));
  expect(lines).toEqual(passes);
});
