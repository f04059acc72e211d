import { expect, test } from "vitest";
import { readRestApi } from "../../infra/tools/local/template/rest-api.ts";
import { responseProblems } from "../../infra/tools/smoke/document.ts";
import { document } from "../helpers/openapi/document.ts";
import { readAssembly } from "../helpers/read-assembly.ts";

// The staging stack; that no setting changes anything of this is shown in
// test/infra/settings.test.ts.
const api = readRestApi((await readAssembly()).template);
const deployed = api.methods.filter(
  ({ Integration }) => Integration.Type === "AWS_PROXY",
);

test("the document and the template ask for a key in the Authorization header", () => {
  const described = Object.values(document.paths).flatMap((item) => Object.values(item));
  const securities = described.map(({ security = document.security }) => security);
  expect(securities).toEqual(deployed.map(() => [{ bearerAuth: [] }]));
  const sources = deployed.map(({ authorizer }) => authorizer?.IdentitySource);
  expect(sources).toEqual(deployed.map(() => "Authorization"));
});

test("the document describes the gateway's responses where there is no operation", () => {
  const constant = api.methods.flatMap(({ HttpMethod, path, Integration }) => {
    if (Integration.Type !== "MOCK") return [];
    const [{ status = 500, ...literal }] = Integration.IntegrationResponses;
    expect(
      responseProblems({ method: "POST", path, ...httpResponse(status, literal) }),
    ).toEqual([]);
    return [
      `${HttpMethod} ${path}: ${status}, allowed ${literal.headers["Allow"] ?? "none"}`,
    ];
  });
  expect(constant.sort()).toEqual([
    "ANY /: 404, allowed none",
    "ANY /store/orders/{orderId}: 405, allowed DELETE",
    "ANY /store/orders: 405, allowed GET",
    "ANY /store: 404, allowed none",
    "ANY /{proxy+}: 404, allowed none",
  ]);
});

const operation = ["GET /store/orders", "DELETE /store/orders/1"];
const otherMethod = ["POST /store/orders"];
const unknownPath = ["GET /nope"];
const anywhere = [...operation, ...otherMethod, ...unknownPath];

/** The requests that may get each type of gateway response; no other type has a status. */
const requestsByType: Record<string, string[]> = {
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

test("the document describes a gateway response wherever a client may get it", () => {
  const types: string[] = [];
  for (const { type, status, ...literal } of api.gatewayResponses) {
    if (status === undefined) continue;
    types.push(type);
    for (const request of requestsByType[type] ?? []) {
      const [method = "", path = ""] = request.split(" ");
      const problems = responseProblems({
        method,
        path,
        ...httpResponse(status, literal),
      });
      expect(problems, `${type} for ${request}`).toEqual([]);
    }
  }
  expect(types.sort()).toEqual(Object.keys(requestsByType).sort());
});

type Constant = { headers: Record<string, string>; body: string };

function httpResponse(status: number, { headers, body }: Constant) {
  const named = Object.entries({ ...headers, "content-type": "application/json" });
  return {
    status,
    headers: Object.fromEntries(
      named.map(([name, value]) => [name.toLowerCase(), value]),
    ),
    body,
  };
}
