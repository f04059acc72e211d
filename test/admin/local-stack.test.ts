import { setTimeout } from "node:timers/promises";
import { expect, inject, test } from "vitest";
import { environments } from "../../infra/environments.ts";
import { startLocalStack } from "../../infra/local/local-stack.ts";
import { createOperator } from "../helpers/admin/admin-process.ts";

test("a key is issued, admitted, revoked and, when the authorizer's cache forgets it, refused", async () => {
  let now = Date.now();
  await using cleanUp = new AsyncDisposableStack();
  const operator = await createOperator();
  cleanUp.defer(() => operator.leave());
  const stack = await startLocalStack({ port: 0, assembly: inject("assembly"), clock: () => now, log: () => {} });
  cleanUp.defer(() => stack.stop());
  await operator.pointTo(stack);
  const issue = async (...args: string[]) => {
    const { stdout } = await operator.run(["keys", "issue", "--local", "--json", ...args]);
    return JSON.parse(stdout);
  };
  const list = async (key: string) => {
    const response = await fetch(`${stack.baseUrl}/store/orders`, { headers: { Authorization: `Bearer ${key}` } });
    return { status: response.status, body: await response.json() };
  };
  const shortLived = await issue("--name", "Short", "--expires", new Date(Date.now() + 2000).toISOString());
  const acme = await issue("--name", "Acme web shop");

  const admitted = await list(acme.key);
  expect(admitted).toMatchObject({ status: 200, body: expect.any(Array) });
  expect((await operator.run(["keys", "revoke", "--local", acme.keyId])).code).toBe(0);
  expect((await list(acme.key)).status).toBe(200);
  now += environments.staging.authorizerCacheSeconds * 1000 + 1;
  expect(await list(acme.key)).toMatchObject({ status: 401, body: { code: "unauthorized" } });

  await setTimeout(Math.max(0, Date.parse(shortLived.expiresAt) - Date.now()));
  expect(await list(shortLived.key)).toMatchObject({ status: 401, body: { code: "unauthorized" } });
  const { stdout } = await operator.run(["keys", "list", "--local", "--json"]);
  const states = JSON.parse(stdout).map(({ name, state }: { name: string; state: string }) => [name, state]);
  expect(Object.fromEntries(states)).toMatchObject({ Short: "expired", "Acme web shop": "revoked" });
});
