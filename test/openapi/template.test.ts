import { expect, inject, test } from "vitest";
import { operations } from "../../infra/smoke/document.ts";
import { type HttpResponse, responseProblems } from "../../infra/smoke/response-problems.ts";
import type { ConstantResponse } from "../../infra/template/rest-api.ts";
import { readRestApi } from "../../infra/template/rest-api.ts";
import { readStack } from "../../infra/template/synthesis.ts";
import { document } from "../helpers/openapi/document.ts";

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
  for (const { security = document.security } of Object.values(document.paths).flatMap(Object.values)) {
    expect(security).toEqual([{ bearerAuth: [] }]);
  }
  for (const { authorizer } of deployed) expect(authorizer).toMatchObject({ header: "Authorization" });
});

test("the document describes what the gateway itself sends where there is no operation", () => {
  const mocks = methods.flatMap(({ method, path, integration }) =>
    integration.kind === "mock" ? [{ method, path, ...integration }] : [],
  );
  expect(mocks.length).toBeGreaterThan(0);
  for (const { method, path, status, ...literal } of mocks) {
    expect(method).toBe("ANY");
    expect(responseProblems("POST", path, httpResponse(status, literal))).toEqual([]);
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
    const problems = requests.map(([method, path]) => responseProblems(method, path, httpResponse(status, literal)));
    expect(problems, type).toContainEqual([]);
  }
});

function httpResponse(status: number, { headers, body }: ConstantResponse): HttpResponse {
  const named = Object.entries({ ...headers, "content-type": "application/json" });
  return { status, headers: Object.fromEntries(named.map(([name, value]) => [name.toLowerCase(), value])), body };
}
