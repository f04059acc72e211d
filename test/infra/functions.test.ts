import { describe, expect, test } from "vitest";
import { resources, templates } from "../helpers/synthesise.ts";

const permissions: Record<string, [action: string, table: RegExp]> = {
  ListOrders: ["dynamodb:Scan", /^Orders/],
  CancelOrder: ["dynamodb:UpdateItem", /^Orders/],
  Authorize: ["dynamodb:GetItem", /^ApiKeys/],
};

describe.each(templates)("the functions of %s", (_name, template) => {
  const policies = resources(template, "AWS::IAM::Policy");
  const functions = resources(template, "AWS::Lambda::Function");

  test.each(Object.entries(permissions))(
    "%s may call one operation on one table, and write its own log",
    (name, [action, table]) => {
      const [, lambda] = functions.find(([id]) => id.startsWith(name)) ?? [];
      const role = JSON.stringify(lambda?.["Role"]);
      const own = policies.filter(([, { Roles }]) => role.includes((Roles as { Ref: string }[])[0]?.Ref ?? "none"));
      const statements = own.flatMap(
        ([, { PolicyDocument }]) => (PolicyDocument as { Statement: Statement[] }).Statement,
      );
      expect(statements.map(({ Effect, Action }) => [Effect, Action])).toEqual([
        ["Allow", ["logs:CreateLogStream", "logs:PutLogEvents"]],
        ["Allow", action],
      ]);
      expect(statements[0]?.Resource).toEqual({
        "Fn::GetAtt": [expect.stringMatching(new RegExp(`^${name}Log`)), "Arn"],
      });
      expect(statements[1]?.Resource).toEqual([{ "Fn::GetAtt": [expect.stringMatching(table), "Arn"] }]);
    },
  );

  test("have no managed policy, which would allow more", () => {
    for (const [id, role] of resources(template, "AWS::IAM::Role")) {
      if (Object.keys(permissions).some((name) => id.startsWith(name)))
        expect(role["ManagedPolicyArns"]).toBeUndefined();
    }
  });

  test("run on Node 24 on arm64, log JSON, and know only their own table", () => {
    expect(functions.map(([id]) => id.replace(/[0-9A-F]{8}$/, "")).sort()).toEqual(Object.keys(permissions).sort());
    for (const [id, lambda] of functions) {
      expect(lambda).toMatchObject({
        Runtime: "nodejs24.x",
        Architectures: ["arm64"],
        Handler: "index.handler",
        LoggingConfig: { LogFormat: "JSON" },
      });
      const { Variables } = lambda["Environment"] as { Variables: Record<string, unknown> };
      expect(Object.keys(Variables)).toEqual([id.startsWith("Authorize") ? "API_KEYS_TABLE" : "ORDERS_TABLE"]);
    }
  });
});

interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: unknown;
}
