import { expect, inject, test } from "vitest";
import { environments } from "../../infra/environments.ts";
import { startLocalStack } from "../../infra/local/local-stack.ts";
import { readStack } from "../../infra/template/synthesis.ts";
import { runHere } from "../helpers/admin/command-here.ts";

test("the gateway accepts an issued key until it is revoked and its cache has forgotten it", async () => {
  let now = Date.now();
  await using cleanUp = new AsyncDisposableStack();
  const stack = await startLocalStack(() => readStack(inject("assembly")), {
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
    const response = await fetch(`${stack.baseUrl}/store/orders`, { headers: { Authorization: `Bearer ${key}` } });
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
  expect(await admin("keys", "list")).toContainEqual(expect.objectContaining({ keyId, state: "revoked" }));
});
