import type { Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import type { Environment } from "../../infra/environments.ts";
import { type FunctionEntry, functionList } from "../../infra/stack/function-list.ts";
import { everyOption } from "../helpers/fixture-environments.ts";
import { constructId, named } from "../helpers/named.ts";
import { resources, templateOf } from "../helpers/synthesise.ts";

const { restoredTables: _, formerTables: __, ...everythingElse } = everyOption;

const own = synthesised({});
const restored = synthesised({ restoredTables: { orders: "orders-1", apiKeys: "keys-1" } });
/** Orders on their way back to the stack's own table, keys from one restored table to the next. */
const movedOn = synthesised({
  restoredTables: { apiKeys: "keys-2" },
  formerTables: { orders: "orders-1", apiKeys: "keys-1" },
});

function synthesised(settings: Partial<Environment>): Template {
  return templateOf({ ...everythingElse, ...settings });
}

interface Statement {
  Action: string | string[];
  Resource: string | string[];
}

/**
 * The tables that each function may use, by their constructs: the stack's own are called `Orders`
 * and `ApiKeys`.
 */
function usable(template: Template): Record<string, string[]> {
  const tables: Record<string, string[]> = {};
  for (const [id, policy] of resources(template, "AWS::IAM::Policy")) {
    const name = /^\w+(?=Role)/.exec(id)?.[0];
    const { Statement } = named(policy["PolicyDocument"]) as { Statement: Statement[] };
    const arns = Statement.filter(({ Action }) => /^dynamodb:\w+$/.test(String(Action))).flatMap(
      (one) => one.Resource,
    );
    if (name) tables[name] = arns.map((arn) => arn.replace(/\.Arn$/, ""));
  }
  return tables;
}

/** The tables that the functions and the outputs name. */
function inUse(template: Template): unknown {
  const functions = resources(template, "AWS::Lambda::Function").map(([, { Environment }]) =>
    named(Environment),
  );
  const { OrdersTableName, ApiKeysTableName } = template.toJSON()["Outputs"];
  return [...functions, named(OrdersTableName), named(ApiKeysTableName)];
}

/** Which function is for which table is promised in intentions.test.ts. */
const lambdas = Object.values<FunctionEntry>(functionList);

const naming = (ofOrders: string, ofKeys: string) => [
  ...lambdas.map(({ permission: { table } }) => ({
    Variables: table === "orders" ? { ORDERS_TABLE: ofOrders } : { API_KEYS_TABLE: ofKeys },
  })),
  { Value: ofOrders },
  { Value: ofKeys },
];

const using = (ofOrders: string[], ofKeys: string[]) =>
  Object.fromEntries(
    lambdas.map(({ id, permission: { table } }) => [id, table === "orders" ? ofOrders : ofKeys]),
  );

/** The tables in a template by their constructs. */
function tables(template: Template) {
  const found = Object.entries(template.findResources("AWS::DynamoDB::Table"));
  return Object.fromEntries(found.map(([id, table]) => [constructId(id), table]));
}

describe("restored tables", () => {
  test("are used instead of the stack's own", () => {
    expect(inUse(own)).toEqual(naming("Orders", "ApiKeys"));
    expect(inUse(restored)).toEqual(naming("Restoredorders1", "Restoredkeys1"));
    expect(inUse(movedOn)).toEqual(naming("Orders", "Restoredkeys2"));
  });

  // A deployment changes the policies before it moves the aliases, and older versions know the
  // older tables.
  test("and those in use before are open to the functions while the aliases move", () => {
    expect(usable(own)).toEqual(using(["Orders"], ["ApiKeys"]));
    expect(usable(restored)).toEqual(
      using(["Restoredorders1", "Orders"], ["Restoredkeys1", "ApiKeys"]),
    );
    expect(usable(movedOn)).toEqual(
      using(["Orders", "Restoredorders1"], ["Restoredkeys2", "ApiKeys", "Restoredkeys1"]),
    );
  });

  test("and former ones have every property of the stack's own except the name", () => {
    const { Orders, ApiKeys, ...others } = tables(movedOn);
    expect(Object.keys(others)).toHaveLength(3);
    for (const [construct, name, like] of [
      ["Restoredorders1", "orders-1", Orders],
      ["Restoredkeys1", "keys-1", ApiKeys],
      ["Restoredkeys2", "keys-2", ApiKeys],
    ] as const) {
      expect(others[construct]).toEqual({
        ...like,
        Properties: { ...like?.["Properties"], TableName: name },
      });
    }
  });

  const ids = (template: Template) => resources(template, "AWS::DynamoDB::Table").map(([id]) => id);

  test("keep their logical ids when they become former ones", () => {
    expect(ids(movedOn)).toEqual(expect.arrayContaining(ids(restored)));
  });

  test("leave the stack's own as they are", () => {
    const ownOf = (template: Template) =>
      ids(own).map((id) => template.findResources("AWS::DynamoDB::Table")[id]);
    expect(ids(own)).toHaveLength(2);
    expect(ownOf(restored)).toEqual(ownOf(own));
    expect(ownOf(movedOn)).toEqual(ownOf(own));
  });

  // CloudFormation adopts no table without this, and deletes one with RetainExceptOnCreate if that
  // deployment fails.
  test("outlive the stack, a failed deployment and their setting", () => {
    const retained = { DeletionPolicy: "Retain", UpdateReplacePolicy: "Retain" };
    for (const table of Object.values(tables(movedOn))) expect(table).toMatchObject(retained);
  });
});

describe("the setting", () => {
  test("ordersStream: only tables of orders get a stream", () => {
    const streamed = (template: Template) =>
      Object.entries(tables(template)).flatMap(([id, { Properties }]) =>
        Properties.StreamSpecification ? [id] : [],
      );
    expect(streamed(movedOn)).toEqual(["Orders", "Restoredorders1"]);
    expect(streamed(synthesised({ ordersStream: false }))).toEqual([]);
  });

  test("ordersStream: an output names the stream of the table in use", () => {
    const output = (template: Template) => named(template.toJSON()["Outputs"].OrdersStreamArn);
    expect(output(movedOn)).toEqual({ Value: "Orders.StreamArn" });
    expect(output(restored)).toEqual({ Value: "Restoredorders1.StreamArn" });
    expect(output(synthesised({ ordersStream: false }))).toBeUndefined();
  });

  test("writerAccounts: other accounts may write orders and do nothing else", () => {
    const policies = (template: Template) =>
      Object.fromEntries(
        Object.entries(tables(template)).map(([id, table]) => [
          id,
          table["Properties"].ResourcePolicy,
        ]),
      );
    const policy = (AWS: string | string[]) => ({
      PolicyDocument: {
        Version: "2012-10-17",
        Statement: [
          {
            Effect: "Allow",
            Principal: { AWS },
            Action: ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"],
            Resource: "*",
          },
        ],
      },
    });
    const one = policy("222222222222");
    expect(policies(restored)).toEqual({ Orders: one, Restoredorders1: one });
    const writerAccounts = ["222222222222", "333333333333"];
    const both = policy(writerAccounts);
    const restoredToo = synthesised({ writerAccounts, restoredTables: { orders: "orders-1" } });
    expect(policies(restoredToo)).toEqual({ Orders: both, Restoredorders1: both });
    expect(policies(synthesised({ writerAccounts: [] }))).toEqual({});
  });
});
