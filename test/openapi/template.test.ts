import { describe, expect, test } from "vitest";
import { methods, resources, templates } from "../infra/synthesise.ts";
import { expectDocumented } from "./answers.ts";
import { document, operations } from "./document.ts";

/** What these tests read of a method of the template. */
interface Method {
  AuthorizationType: string;
  AuthorizerId?: { Ref: string };
  Integration: { Type: string; IntegrationResponses?: { ResponseParameters: Record<string, string> }[] };
}

interface GatewayResponse {
  StatusCode?: string;
  ResponseParameters: Record<string, string>;
  ResponseTemplates: Record<string, string>;
}

describe.each(templates)("the document and the template of %s", (_name, template) => {
  const all = new Map([...methods(template)].map(([name, method]) => [name, method as unknown as Method]));
  const functions = [...all].filter(([, { Integration }]) => Integration.Type !== "MOCK");

  test("have the same operations", () => {
    expect(functions.map(([name]) => name).sort()).toEqual(operations.map(({ name }) => name).sort());
  });

  test("ask for a bearer key at the same operations", () => {
    const documented = operations
      .filter(({ operation }) => (operation.security ?? document.security).some((one) => "bearerAuth" in one))
      .map(({ name }) => name);
    const authorizers = template.findResources("AWS::ApiGateway::Authorizer");
    const [bearer] = Object.entries(authorizers).find(
      ([, { Properties }]) => Properties.IdentitySource === "method.request.header.Authorization",
    ) ?? [""];
    const guarded = functions
      .filter(([, method]) => method.AuthorizationType === "CUSTOM" && method.AuthorizerId?.Ref === bearer)
      .map(([name]) => name);
    expect(guarded.sort()).toEqual(operations.map(({ name }) => name).sort());
    expect(documented.sort()).toEqual(guarded.sort());
  });

  test("name the same methods in every Allow header", () => {
    const allowed = new Map<string, string[]>();
    for (const { method, path } of operations) allowed.set(path, [...(allowed.get(path) ?? []), method]);
    for (const [path, methods] of allowed) {
      const { Integration } = all.get(`ANY ${path}`) ?? {};
      const [response] = Integration?.IntegrationResponses ?? [];
      expect(response?.ResponseParameters["method.response.header.Allow"]).toBe(`'${methods.join(", ")}'`);
    }
  });

  test("agree on everything the gateway answers by itself", () => {
    const requests = ["DELETE /store/orders/1", "POST /store/orders", "GET /nope"].map((name) => name.split(" "));
    for (const [, response] of resources(template, "AWS::ApiGateway::GatewayResponse")) {
      const { StatusCode, ResponseParameters, ResponseTemplates } = response as unknown as GatewayResponse;
      // The two defaults have no status of their own.
      if (StatusCode === undefined) continue;
      const headers = Object.entries(ResponseParameters).map(([name, value]) => [
        name.replace("gatewayresponse.header.", "").toLowerCase(),
        value.slice(1, -1),
      ]);
      const [[type, body] = ["", ""]] = Object.entries(ResponseTemplates);
      const answer = {
        status: Number(StatusCode),
        headers: { ...Object.fromEntries(headers), "content-type": type },
        body,
      };
      const complaints = requests.map(([method = "", path = ""]) => complaint(method, path, answer));
      expect(complaints, body).toContain(undefined);
    }
  });
});

function complaint(...request: Parameters<typeof expectDocumented>): unknown {
  try {
    expectDocumented(...request);
    return undefined;
  } catch (error) {
    return error;
  }
}
