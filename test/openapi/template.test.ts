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

const requests: Record<string, string[]> = {
  operation: ["GET /store/orders", "DELETE /store/orders/1"],
  otherMethod: ["POST /store/orders"],
  unknownPath: ["GET /nope"],
};

/** Each type of gateway response, its status or a default's code, and the requests that may get it. */
const responseTypes = `ACCESS_DENIED 403 operation
API_CONFIGURATION_ERROR 500 operation
AUTHORIZER_CONFIGURATION_ERROR 500 operation
AUTHORIZER_FAILURE 500 operation
BAD_REQUEST_BODY 400 operation otherMethod unknownPath
BAD_REQUEST_PARAMETERS 400 operation otherMethod unknownPath
DEFAULT_4XX bad_request
DEFAULT_5XX internal_error
EXPIRED_TOKEN 403 operation
INTEGRATION_FAILURE 500 operation
INTEGRATION_TIMEOUT 504 operation
INVALID_API_KEY 403 operation
INVALID_SIGNATURE 404 unknownPath
MISSING_AUTHENTICATION_TOKEN 404 unknownPath
QUOTA_EXCEEDED 429 operation otherMethod unknownPath
REQUEST_TOO_LARGE 413 operation otherMethod unknownPath
RESOURCE_NOT_FOUND 404 unknownPath
THROTTLED 429 operation otherMethod unknownPath
UNAUTHORIZED 401 operation
UNSUPPORTED_MEDIA_TYPE 415 otherMethod
WAF_FILTERED 403 operation otherMethod unknownPath`.split("\n");

test("the document describes a gateway response wherever a client may get it", () => {
  const types: string[] = [];
  for (const { type, status, ...literal } of api.gatewayResponses) {
    expect(literal.headers).toEqual({
      "Cache-Control": "no-store",
      ...(status === 401 && { "WWW-Authenticate": "Bearer" }),
      ...(status === 429 && { "Retry-After": "1" }),
    });
    const response = `${type} ${status ?? JSON.parse(literal.body).code}`;
    const line = responseTypes.find((text) => `${text} `.startsWith(`${response} `));
    types.push(line ?? response);
    const words = line?.split(" ") ?? [];
    for (const request of words.flatMap((word) => requests[word] ?? [])) {
      const [method = "", path = ""] = request.split(" ");
      const problems = responseProblems({
        method,
        path,
        ...httpResponse(Number(status), literal),
      });
      expect(problems, `${response} for ${request}`).toEqual([]);
    }
  }
  expect(types.sort()).toEqual(responseTypes);
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
