import type { Template } from "../../../infra/deploy/template.ts";
import { every, one } from "../templates.ts";
import { add, push, remove, type StoppingChange, set, unset, type Which } from "./change.ts";

const orders: Which = ["DynamoDB::Table", "Orders"];
const writers = "ResourcePolicy.PolicyDocument.Statement.0.Principal.AWS";

/** Has the functions find their orders in another table. */
function moveOrders(next: Template, table: string): void {
  const { id } = one(next, ...orders);
  for (const { Properties } of every(next, "Lambda::Function")) {
    const variables = Properties?.["Environment"].Variables;
    if (variables.ORDERS_TABLE?.Ref === id) variables.ORDERS_TABLE = { Ref: table };
  }
}

/** Adds a table like that of the orders, under a name of its own. */
function addTable(next: Template, id: string): void {
  const { resource } = one(next, ...orders);
  const Properties = { ...resource.Properties, TableName: id.toUpperCase() };
  next.Resources[id] = { ...resource, Metadata: {}, Properties };
}

/** Changes of tables, and of a team's own resources, that stop a deployment. */
export const tablesChanges: StoppingChange[] = [
  {
    title: "the stream of the orders table is switched off",
    change: unset(orders, "StreamSpecification"),
    names: ["Orders.StreamSpecification=unset"],
  },
  {
    title: "the table of keys has a stream",
    change: set(["DynamoDB::Table", "ApiKeys"], "StreamSpecification", {
      StreamViewType: "NEW_AND_OLD_IMAGES",
    }),
    names: ["ApiKeys.StreamSpecification=DIGEST"],
  },
  {
    title: "one of two writing accounts is removed",
    change: set(orders, writers, ["222222222222"]),
    names: ["Orders.ResourcePolicy.PolicyDocument.Statement=DIGEST"],
  },
  {
    title: "a writing account is added",
    change: push(orders, writers, "444444444444"),
    names: ["Orders.ResourcePolicy.PolicyDocument.Statement=DIGEST"],
  },
  {
    title: "orders expire",
    change: set(orders, "TimeToLiveSpecification", { AttributeName: "shipDate", Enabled: true }),
    names: ["Orders.TimeToLiveSpecification=DIGEST"],
  },
  {
    title: "a deployment that fails would delete a table",
    change: (next) => {
      one(next, ...orders).resource["DeletionPolicy"] = "RetainExceptOnCreate";
    },
    names: ["Orders.DeletionPolicy=RetainExceptOnCreate"],
  },
  {
    title: "the key of orders gets another type",
    change: set(orders, "AttributeDefinitions.0.AttributeType", "S"),
    names: ["Orders.AttributeDefinitions.0.AttributeType=S"],
  },
  {
    title: "a table is replaced by one with another key",
    change: set(orders, "KeySchema", [{ AttributeName: "orderId", KeyType: "HASH" }]),
    names: ["replaced:Orders.KeySchema.0.AttributeName=orderId"],
  },
  {
    title: "a table loses its throughput limit",
    change: unset(orders, "OnDemandThroughput"),
    names: ["Orders.OnDemandThroughput=unset"],
  },
  {
    title: "a bucket of the team's own is removed",
    change: remove(["S3::Bucket"]),
    names: ["removed:OwnBucket@DIGEST"],
  },
  {
    title: "a table of the team's own is added",
    change: add("OwnTable", { Type: "AWS::DynamoDB::Table" }),
    names: ["added:OwnTable@DIGEST"],
  },
  {
    title: "functions move to another table",
    change: (next) => {
      addTable(next, "Other");
      moveOrders(next, "Other");
    },
    names: [
      "Lambda::Function.Environment.Variables.ORDERS_TABLE={Other}@DIGEST",
      "added:Other@DIGEST",
    ],
  },
  {
    title: "functions and a role move from the orders to the keys",
    change: (next) => {
      const { id } = one(next, "DynamoDB::Table", "ApiKeys");
      moveOrders(next, id);
      const { properties } = one(next, "IAM::Policy", "CancelOrderRole");
      properties["PolicyDocument"].Statement[1].Resource = { "Fn::GetAtt": [id, "Arn"] };
    },
    names: [
      "CancelOrderRole/DefaultPolicy.PolicyDocument.Statement=DIGEST",
      "Lambda::Function.Environment.Variables.ORDERS_TABLE={ApiKeys}@DIGEST",
    ],
  },
];
