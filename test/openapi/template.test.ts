import type { IncomingHttpHeaders } from "node:http";
import { expect, inject, test } from "vitest";
import { type LiteralResponse, readRestApi } from "../../infra/local/template/rest-api.ts";
import { readStack } from "../../infra/local/template/template.ts";
import { expectDocumented } from "../helpers/openapi/answers.ts";
import { document, operations } from "../helpers/openapi/document.ts";

// The staging stack; that the environments differ in nothing of this is pinned in test/infra/environments.test.ts.
const api = readRestApi((await readStack(inject("assembly"))).template);
const methods = api.resources.flatMap(({ path, methods }) =>
  [...methods].map(([method, { authorizer, integration }]) => ({ method, path, authorizer, integration })),
);
const deployed = methods.filter(({ integration }) => integration.kind === "function");

test("the document and the template have the same operations", () => {
  expect(deployed.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
    operations.map(({ name }) => name).sort(),
  );
});

test("the document and the template ask for a bearer key at every operation", () => {
  for (const { operation } of operations) expect(operation.security ?? document.security).toEqual([{ bearerAuth: [] }]);
  for (const { authorizer } of deployed) expect(authorizer).toMatchObject({ header: "Authorization" });
});

test("the document describes what the gateway answers by itself where there is no operation", () => {
  const anywhere = methods.flatMap(({ method, path, integration }) =>
    integration.kind === "mock" ? [{ method, path, ...integration }] : [],
  );
  expect(anywhere.length).toBeGreaterThan(0);
  for (const { method, path, status, ...literal } of anywhere) {
    expect(method).toBe("ANY");
    expectDocumented("POST", path, answer(status, literal));
    const allowed = operations.filter((operation) => operation.path === path).map((operation) => operation.method);
    expect(literal.headers["Allow"]).toBe(allowed.length > 0 ? allowed.join(", ") : undefined);
  }
});

test("the document describes every gateway response, at an operation or elsewhere", () => {
  for (const [type, { status, ...literal }] of api.gatewayResponses) {
    // The two defaults have no status of their own.
    if (status === undefined) continue;
    const requests: [string, string][] = [
      ["DELETE", "/store/orders/1"],
      ["POST", "/store/orders"],
      ["GET", "/nope"],
    ];
    const complaints = requests.map(([method, path]) => complaint(method, path, answer(status, literal)));
    expect(complaints, type).toContain(undefined);
  }
});

function answer(
  status: number,
  { headers, contentType, body }: LiteralResponse,
): { status: number; headers: IncomingHttpHeaders; body: string } {
  const named = Object.entries({ ...headers, "content-type": contentType });
  return { status, headers: Object.fromEntries(named.map(([name, value]) => [name.toLowerCase(), value])), body };
}

function complaint(...request: Parameters<typeof expectDocumented>): unknown {
  try {
    expectDocumented(...request);
    return undefined;
  } catch (error) {
    return error;
  }
}
