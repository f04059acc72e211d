import { describe, expect, test } from "vitest";
import type { HttpResponse } from "../../infra/smoke/client.ts";
import { responseProblems } from "../../infra/smoke/response-problems.ts";
import type { ConstantResponse } from "../../infra/template/rest-api.ts";
import { readRestApi } from "../../infra/template/rest-api.ts";
import { document } from "../helpers/openapi/document.ts";
import { readAssembly } from "../helpers/read-assembly.ts";

// The staging stack; that no setting changes anything of this is shown in
// test/infra/settings.test.ts.
const api = readRestApi((await readAssembly()).template);
const deployed = api.methods.filter(({ integration }) => integration.Type === "AWS_PROXY");

const methodsOf = (item: object) => Object.keys(item).map((method) => method.toUpperCase());

test("the document asks for a bearer key at every operation", () => {
  for (const { security = document.security } of Object.values(document.paths).flatMap(
    Object.values,
  )) {
    expect(security).toEqual([{ bearerAuth: [] }]);
  }
});

test("the template asks for a bearer key at every operation", () => {
  for (const { authorizer } of deployed)
    expect(authorizer).toMatchObject({ IdentitySource: "Authorization" });
});

test("the document describes what the gateway itself sends where there is no operation", () => {
  const mocks = api.methods.flatMap(({ httpMethod, path, integration }) =>
    integration.Type === "MOCK" ? [{ httpMethod, path, ...integration }] : [],
  );
  expect(mocks.length).toBeGreaterThan(0);
  for (const { httpMethod, path, status, ...literal } of mocks) {
    expect(httpMethod).toBe("ANY");
    expect(responseProblems("POST", path, httpResponse(status, literal))).toEqual([]);
    const allowed = methodsOf(document.paths[path] ?? {});
    expect(literal.headers["Allow"]?.split(", ").sort()).toEqual(
      allowed.length > 0 ? allowed.sort() : undefined,
    );
  }
});

describe("the document describes a gateway response wherever a client may get it:", () => {
  const operation: [string, string][] = [
    ["GET", "/store/orders"],
    ["DELETE", "/store/orders/1"],
  ];
  const otherMethod: [string, string][] = [["POST", "/store/orders"]];
  const unknownPath: [string, string][] = [["GET", "/nope"]];
  const anywhere = [...operation, ...otherMethod, ...unknownPath];
  const places: Record<string, [method: string, path: string][]> = {
    ACCESS_DENIED: operation,
    API_CONFIGURATION_ERROR: operation,
    AUTHORIZER_CONFIGURATION_ERROR: operation,
    AUTHORIZER_FAILURE: operation,
    BAD_REQUEST_BODY: anywhere,
    BAD_REQUEST_PARAMETERS: anywhere,
    EXPIRED_TOKEN: operation,
    INTEGRATION_FAILURE: operation,
    INTEGRATION_TIMEOUT: operation,
    INVALID_API_KEY: operation,
    INVALID_SIGNATURE: unknownPath,
    MISSING_AUTHENTICATION_TOKEN: unknownPath,
    QUOTA_EXCEEDED: anywhere,
    REQUEST_TOO_LARGE: anywhere,
    RESOURCE_NOT_FOUND: unknownPath,
    THROTTLED: anywhere,
    UNAUTHORIZED: operation,
    UNSUPPORTED_MEDIA_TYPE: otherMethod,
    WAF_FILTERED: anywhere,
  };

  test.each(Object.entries(places))("%s", (type, requests) => {
    const { status = 0, ...literal } = api.gatewayResponses.get(type) ?? { headers: {}, body: "" };
    const problems = requests.flatMap(([method, path]) =>
      responseProblems(method, path, httpResponse(status, literal)).map(
        (problem) => `${method} ${path}: ${problem}`,
      ),
    );
    expect(problems).toEqual([]);
  });

  test("no other type has a status of its own", () => {
    const concrete = [...api.gatewayResponses]
      .filter(([, { status }]) => status !== undefined)
      .map(([type]) => type);
    expect(concrete.sort()).toEqual(Object.keys(places).sort());
  });
});

function httpResponse(status: number, { headers, body }: ConstantResponse): HttpResponse {
  const named = Object.entries({ ...headers, "content-type": "application/json" });
  return {
    status,
    headers: Object.fromEntries(named.map(([name, value]) => [name.toLowerCase(), value])),
    body,
  };
}
