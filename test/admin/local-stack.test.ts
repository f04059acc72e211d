import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { environments } from "../../infra/environments.ts";
import { startLocalStack } from "../../infra/local/local-stack.ts";
import { rejectedAs, unapplied } from "../helpers/faults/faults.ts";
import { readAssembly } from "../helpers/read-assembly.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { createOperator } from "./admin-process.ts";
import { runCommand, runHere } from "./command-here.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);

test("the gateway accepts a revoked key until its cache expires", async () => {
  let now = Date.now();
  await using cleanUp = new AsyncDisposableStack();
  const stack = await startLocalStack(readAssembly, {
    port: 0,
    clock: { now: () => now },
    log: () => {},
  });
  cleanUp.defer(() => stack.stop());
  const admin = async (...args: string[]) => {
    const { code, stdout, stderr } = await runHere(stack, [...args, "--json"]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return JSON.parse(stdout);
  };
  const list = async (key: string) => {
    const response = await fetch(`${stack.baseUrl}/store/orders`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    return { status: response.status, body: await response.json() };
  };
  const accepted = { status: 200, body: expect.any(Array) };
  const rejected = { status: 401, body: expect.objectContaining({ code: "unauthorized" }) };

  const { key, keyId } = await admin("keys", "issue", "--name", "Acme");
  expect(await list(key)).toEqual(accepted);
  await admin("keys", "revoke", keyId);
  expect(await list(key)).toEqual(accepted);
  now += environments.staging.authorizerCacheSeconds * 1000 + 1;
  expect(await list(key)).toEqual(rejected);
  expect(await admin("keys", "list")).toContainEqual(
    expect.objectContaining({ keyId, state: "revoked" }),
  );
});

describe("a command for the local stack", () => {
  const list = ["keys", "list", "--local"];
  beforeEach(() => void vi.stubEnv("LOCAL_STACK_FILE", join(operator.folder, "stack.json")));

  const failed = {
    code: 1,
    stdout: "",
    stderr: "No local stack is running. Start one with `npm start`\n",
  };

  test("fails when none runs", async () => {
    expect(await runCommand(list)).toEqual(failed);
  });

  test("fails when the only one was killed", async () => {
    await operator.pointTo({ ...tables, dynamodbEndpoint: "http://127.0.0.1:1" });
    expect(await runCommand(list)).toEqual(failed);
  });

  test.each([
    ["AWS_USE_FIPS_ENDPOINT", "true"],
    ["AWS_USE_DUALSTACK_ENDPOINT", "true"],
    ["AWS_DEFAULTS_MODE", "typo"],
    ["AWS_ACCOUNT_ID_ENDPOINT_MODE", "required"],
    ["AWS_ENDPOINT_URL", "http://127.0.0.1:1"],
    ["AWS_PROFILE", "nobody"],
  ])("finds the running one whatever the shell sets: %s=%s", async (name, value) => {
    await operator.pointTo(tables);
    vi.stubEnv(name, value);
    expect(await runCommand(list)).toEqual({ code: 0, stdout: "No keys yet.\n", stderr: "" });
  });

  test("fails when another program has the port of the one that was killed", async () => {
    const { proxy } = await tables.behindProxy(() => rejectedAs("UnrecognizedClientException"));
    await operator.pointTo({ ...tables, dynamodbEndpoint: proxy.endpoint });
    expect(await runCommand(list)).toEqual(failed);
  });

  test("says what is wrong when one runs, but does not respond", async () => {
    const { proxy } = await tables.behindProxy(() => unapplied["reset before a response"]);
    await operator.pointTo({ ...tables, dynamodbEndpoint: proxy.endpoint });
    expect(await runCommand(list)).toEqual({
      code: 1,
      stdout: "",
      stderr: "No response from the service (ECONNRESET)\n",
    });
  });

  const stackAt = (port: number, dynamodbEndpoint: string) => ({
    baseUrl: `http://localhost:${port}/v1`,
    dynamodbEndpoint,
    accessKeyId: "local",
    tables: tables.tables,
  });
  const running = [stackAt(2, tables.dynamodbEndpoint), stackAt(1, tables.dynamodbEndpoint)];
  const killed = stackAt(3, "http://127.0.0.1:1");
  test.each([
    ["the latest of two", running],
    ["the latest that still runs", [killed, ...running]],
  ])("names the stack that it uses: %s", async (_, stacks) => {
    await operator.write("stack.json", JSON.stringify(stacks));
    expect(await runCommand(list)).toEqual({
      code: 0,
      stdout: "No keys yet.\n",
      stderr: "local: http://localhost:2/v1\n",
    });
  });
});
