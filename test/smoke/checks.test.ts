import { beforeEach, expect, test } from "vitest";
import { smokeChecks } from "../../infra/smoke/checks.ts";
import { type ApiKeyPrefix, isApiKey, makeApiKey } from "../../shared/api-keys.ts";
import { startTinyService, type TinyRequest } from "../helpers/smoke/tiny-service.ts";

let service: Awaited<ReturnType<typeof startTinyService>>;
beforeEach(async () => {
  service = await startTinyService();
  return () => service.stop();
});

/** Keeps the requests of the check that has this in its name. */
async function requestsFor(part: string, apiKey = service.apiKey): Promise<TinyRequest[]> {
  const requests: TinyRequest[] = [];
  service.fault = (request, right) => {
    requests.push(request);
    return right;
  };
  await smokeChecks({ ...service, apiKey })
    .find(({ name }) => name.includes(part))
    ?.run();
  return requests;
}

// Before the authorizer is asked, the gateway rejects the keys of other environments.
test.each<ApiKeyPrefix>(["pets_test", "pets_live"])(
  "an unissued key is one of its own environment, %s",
  async (prefix) => {
    const apiKey = makeApiKey(prefix);
    const requests = await requestsFor("never issued", apiKey);
    expect(requests).not.toEqual([]);
    for (const { key = "" } of requests) expect([key.slice(0, 10), isApiKey(key)]).toEqual([`${prefix}_`, true]);
    expect(requests.map(({ key }) => key)).not.toContain(apiKey);
  },
);

test("a mistyped key differs in its last character, whatever that is", async () => {
  let apiKey = makeApiKey("pets_test");
  while (!apiKey.endsWith("0")) apiKey = makeApiKey("pets_test");
  const requests = await requestsFor("malformed key", apiKey);
  const keys = new Set(requests.map(({ key }) => key));
  expect([...keys]).toEqual(["no-key", `${apiKey.slice(0, -1)}1`, `${apiKey}0`, "bm86a2V5"]);
});

test("an order that does not exist has an id that the function has to look for", async () => {
  const ids = new Set<bigint>();
  for (let count = 0; count < 20; count += 1) {
    const [request] = await requestsFor("does not exist");
    ids.add(BigInt(request?.path.replace("/store/orders/", "") ?? 0));
  }
  expect(ids.size).toBe(20);
  expect([...ids].filter((id) => id >= 0n || id < -(2n ** 63n))).toEqual([]);
});
