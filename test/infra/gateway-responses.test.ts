import { describe, expect, test } from "vitest";
import { errors } from "../../shared/errors.ts";
import { resources, templates } from "../helpers/synthesise.ts";

/** The concrete gateway response types with their own statuses, as the API Gateway developer guide lists them. */
const gatewayResponseTypes = {
  ACCESS_DENIED: 403,
  API_CONFIGURATION_ERROR: 500,
  AUTHORIZER_CONFIGURATION_ERROR: 500,
  AUTHORIZER_FAILURE: 500,
  BAD_REQUEST_BODY: 400,
  BAD_REQUEST_PARAMETERS: 400,
  DEFAULT_4XX: undefined,
  DEFAULT_5XX: undefined,
  EXPIRED_TOKEN: 403,
  INTEGRATION_FAILURE: 504,
  INTEGRATION_TIMEOUT: 504,
  INVALID_API_KEY: 403,
  INVALID_SIGNATURE: 403,
  MISSING_AUTHENTICATION_TOKEN: 403,
  QUOTA_EXCEEDED: 429,
  REQUEST_TOO_LARGE: 413,
  RESOURCE_NOT_FOUND: 404,
  THROTTLED: 429,
  UNAUTHORIZED: 401,
  UNSUPPORTED_MEDIA_TYPE: 415,
  WAF_FILTERED: 403,
};

describe.each(templates)("the gateway's own responses in %s", (_name, template) => {
  const responses = resources(template, "AWS::ApiGateway::GatewayResponse").map(([, response]) => response);

  test("are defined for every type there is", () => {
    expect(responses.map((response) => response["ResponseType"]).sort()).toEqual(
      Object.keys(gatewayResponseTypes).sort(),
    );
  });

  test.each(responses.map((response) => [response["ResponseType"], response]))(
    "%s is an Error record",
    (type, response) => {
      const { "application/json": template, ...others } = response["ResponseTemplates"] as Record<string, string>;
      const { code, message, status, ...more } = JSON.parse(template ?? "");
      expect([others, more]).toEqual([{}, {}]);
      // The gateway knows of no order.
      expect(code).not.toMatch(/^order_/);
      expect(errors[code as keyof typeof errors]).toEqual({ status, message });
      if (String(type).startsWith("DEFAULT_")) expect(response["StatusCode"]).toBeUndefined();
      else expect(response["StatusCode"]).toBe(String(status));
      expect(response["ResponseParameters"]).toMatchObject({ "gatewayresponse.header.Cache-Control": "'no-store'" });
    },
  );

  test("keep each type's own status, except for unknown paths and failed functions", () => {
    const changed = responses.filter((response) => {
      const own = gatewayResponseTypes[response["ResponseType"] as keyof typeof gatewayResponseTypes];
      return own !== undefined && response["StatusCode"] !== String(own);
    });
    expect(changed.map((response) => [response["ResponseType"], response["StatusCode"]]).sort()).toEqual([
      ["INTEGRATION_FAILURE", "500"],
      ["INVALID_SIGNATURE", "404"],
      ["MISSING_AUTHENTICATION_TOKEN", "404"],
    ]);
  });

  test("name the scheme with a 401, and the time to wait with a 429", () => {
    const headers = (type: string) =>
      responses.find((response) => response["ResponseType"] === type)?.["ResponseParameters"];
    expect(headers("UNAUTHORIZED")).toMatchObject({ "gatewayresponse.header.WWW-Authenticate": "'Bearer'" });
    expect(headers("THROTTLED")).toMatchObject({ "gatewayresponse.header.Retry-After": "'1'" });
    expect(headers("QUOTA_EXCEEDED")).toMatchObject({ "gatewayresponse.header.Retry-After": "'1'" });
  });
});
