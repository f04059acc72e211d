import { Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import { type Environment, environments } from "../../infra/environments.ts";
import { type FunctionEntry, functionList } from "../../infra/stack/function-list.ts";
import { named } from "../helpers/alarms/definitions.ts";
import { ordersStack, resources } from "../helpers/synthesise.ts";

const orders = "PetStoreOrders-production-Orders-20261120";
const apiKeys = "PetStoreOrders-production-ApiKeys-20261120";
const ordersStreamArn = "arn:aws:dynamodb:eu-central-1:111111111111:table/restored/stream/2026-11-20";

const production = synthesised({});
const restored = synthesised({ restoredTables: { orders, apiKeys, ordersStreamArn }, ordersStream: true });
/** Orders on their way back to the stack's own table, keys from one restored table to the next. */
const movedOn = synthesised({
  restoredTables: { apiKeys },
  formerTables: { orders, apiKeys: "keys-before" },
  ordersStream: true,
});

function synthesised(settings: Partial<Environment>): Template {
  return Template.fromStack(ordersStack({ ...environments.production, ...settings }));
}

interface Statement {
  Action: string | string[];
  Resource: string | string[];
}

/** The tables that each function may use; the stack's own are called `Orders` and `ApiKeys`. */
function usable(template: Template): Record<string, string[]> {
  const tables: Record<string, string[]> = {};
  for (const [id, policy] of resources(template, "AWS::IAM::Policy")) {
    const [name] = /^\w+(?=Role)/.exec(id) ?? [];
    const { Statement } = named(policy["PolicyDocument"]) as { Statement: Statement[] };
    const arns = Statement.filter(({ Action }) => /^dynamodb:\w+$/.test(String(Action))).flatMap((one) => one.Resource);
    if (name) tables[name] = arns.map((arn) => arn.replace(/^.*:table\/|\.Arn$/g, ""));
  }
  return tables;
}

/** The tables that the functions and the outputs name. */
function inUse(template: Template): unknown {
  const functions = resources(template, "AWS::Lambda::Function").map(([, { Environment }]) => named(Environment));
  const { OrdersTableName, ApiKeysTableName } = template.toJSON()["Outputs"];
  return [...functions, named(OrdersTableName), named(ApiKeysTableName)];
}

/** Which function is for which table is promised in functions.test.ts. */
const lambdas = Object.values<FunctionEntry>(functionList);

const naming = (ofOrders: string, ofKeys: string) => [
  ...lambdas.map(({ permission: { table } }) => ({
    Variables: table === "orders" ? { ORDERS_TABLE: ofOrders } : { API_KEYS_TABLE: ofKeys },
  })),
  { Value: ofOrders },
  { Value: ofKeys },
];

const using = (ofOrders: string[], ofKeys: string[]) =>
  Object.fromEntries(lambdas.map(({ id, permission: { table } }) => [id, table === "orders" ? ofOrders : ofKeys]));

describe("restored tables", () => {
  test("are used instead of the stack's own", () => {
    expect(inUse(production)).toEqual(naming("Orders", "ApiKeys"));
    expect(inUse(restored)).toEqual(naming(orders, apiKeys));
    expect(inUse(movedOn)).toEqual(naming("Orders", apiKeys));
  });

  // A deployment changes the policies before it moves the aliases, and older versions know the older tables.
  test("and those in use before stay open to the functions, so that live code works while the aliases move", () => {
    expect(usable(production)).toEqual(using(["Orders"], ["ApiKeys"]));
    expect(usable(restored)).toEqual(using([orders, "Orders"], [apiKeys, "ApiKeys"]));
    expect(usable(movedOn)).toEqual(using(["Orders", orders], [apiKeys, "ApiKeys", "keys-before"]));
  });

  test("leave the stack's own as they are", () => {
    const own = (template: Template) => template.findResources("AWS::DynamoDB::Table");
    expect(own(restored)).toEqual(own(movedOn));
  });
});

describe("the stream of orders", () => {
  test("is off, unless its setting turns it on for the orders table alone", () => {
    const streams = (template: Template) =>
      resources(template, "AWS::DynamoDB::Table").map(([, table]) => table["StreamSpecification"]);
    expect(streams(production)).toEqual([undefined, undefined]);
    expect(streams(movedOn)).toEqual([{ StreamViewType: "NEW_AND_OLD_IMAGES" }, undefined]);
  });

  test("is in the outputs: that of the table in use", () => {
    const output = (template: Template) => named(template.toJSON()["Outputs"].OrdersStreamArn);
    expect(output(production)).toBeUndefined();
    expect(output(movedOn)).toEqual({ Value: "Orders.StreamArn" });
    expect(output(restored)).toEqual({ Value: ordersStreamArn });
  });

  test("must be turned on for a restored table, which comes without one", () => {
    expect(() => synthesised({ ordersStream: true, restoredTables: { orders } })).toThrow(
      /^ordersStream: turn on the stream of the restored table, then set restoredTables\.ordersStreamArn$/,
    );
  });
});
