import { describe, expect, test } from "vitest";
import { type FunctionEntry, functionList } from "../../infra/stack/function-list.ts";
import { resources, templates } from "../helpers/synthesise.ts";

type Row = [
  operation: string | undefined,
  failures: string[],
  timeoutSeconds: number,
  megabytes: number,
  action: string,
  table: RegExp,
];

/** The promises about each function. This test holds the list of functions to them; every other test counts from it. */
const promised: Record<string, Row> = {
  ListOrders: ["GET /store/orders, streamed", ["list_failed", "list_cut_off"], 900, 1024, "dynamodb:Scan", /^Orders/],
  CancelOrder: ["DELETE /store/orders/{orderId}", ["cancel_failed"], 10, 512, "dynamodb:UpdateItem", /^Orders/],
  Authorize: [undefined, ["authorize_failed"], 5, 512, "dynamodb:GetItem", /^ApiKeys/],
};

test("the list of functions is the one promised here: a new function needs a row", () => {
  const listed = Object.values<FunctionEntry>(functionList).map(({ id, operation, failures }) => {
    const served = operation && `${operation.method} ${operation.path}${operation.streamed ? ", streamed" : ""}`;
    return [id, served, failures];
  });
  expect(listed).toEqual(Object.entries(promised).map(([id, [operation, failures]]) => [id, operation, failures]));
});

describe.each(templates)("the functions of %s", (_name, template) => {
  const policies = resources(template, "AWS::IAM::Policy");
  const functions = resources(template, "AWS::Lambda::Function");

  test.each(Object.entries(promised))(
    "%s may call one operation on one table, and write its own log",
    (name, [_operation, _failures, Timeout, MemorySize, action, table]) => {
      const [, lambda] = functions.find(([id]) => id.startsWith(name)) ?? [];
      expect(lambda).toMatchObject({ Timeout, MemorySize });
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
      if (Object.keys(promised).some((name) => id.startsWith(name))) expect(role["ManagedPolicyArns"]).toBeUndefined();
    }
  });

  test("run on Node 24 on arm64, log JSON, and know only their own table", () => {
    expect(functions.map(([id]) => id.replace(/[0-9A-F]{8}$/, "")).sort()).toEqual(Object.keys(promised).sort());
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
