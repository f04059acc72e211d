import { describe, expect, test } from "vitest";
import { methods, templates } from "../infra/synthesise.ts";
import { document, operations } from "./document.ts";

/** What these tests read of a method of the template. */
interface Method {
  AuthorizationType: string;
  AuthorizerId?: { Ref: string };
  Integration: { Type: string; IntegrationResponses?: { ResponseParameters: Record<string, string> }[] };
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
});
