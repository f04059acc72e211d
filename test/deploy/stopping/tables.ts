import { every, one } from "../templates.ts";
import { add, push, remove, type StoppingChange, set, unset } from "./stopping-change.ts";

const orders: [string, string] = ["DynamoDB::Table", "Orders"];
const writers = "ResourcePolicy.PolicyDocument.Statement.0.Principal.AWS";

/** Changes of tables, and of a team's own resources, that someone would mind. */
export const tablesChanges: StoppingChange[] = [
  {
    title: "the stream of the orders table is switched off",
    change: unset(orders, "StreamSpecification"),
    names: ["changed:Orders.StreamSpecification"],
  },
  {
    title: "the table of keys has a stream",
    change: set(["DynamoDB::Table", "ApiKeys"], "StreamSpecification", {
      StreamViewType: "NEW_AND_OLD_IMAGES",
    }),
    names: ["changed:ApiKeys.StreamSpecification"],
  },
  {
    title: "one of two writing accounts is removed",
    change: set(orders, writers, ["222222222222"]),
    names: [`changed:Orders.${writers}`],
  },
  {
    title: "a writing account is added",
    change: push(orders, writers, "444444444444"),
    names: [`changed:Orders.${writers}`],
  },
  {
    title: "orders expire",
    change: set(orders, "TimeToLiveSpecification", { AttributeName: "shipDate", Enabled: true }),
    names: ["changed:Orders.TimeToLiveSpecification"],
  },
  {
    title: "the key of orders gets another type",
    change: set(orders, "AttributeDefinitions.0.AttributeType", "S"),
    names: ["changed:Orders.AttributeDefinitions.0.AttributeType"],
  },
  {
    title: "a table is replaced by one with another key",
    change: set(orders, "KeySchema", [{ AttributeName: "orderId", KeyType: "HASH" }]),
    names: ["replaced:Orders"],
  },
  {
    title: "a table loses its throughput limit",
    change: unset(orders, "OnDemandThroughput"),
    names: ["changed:Orders.OnDemandThroughput"],
  },
  {
    title: "a bucket of the team's own is removed",
    change: remove(["S3::Bucket"]),
    names: ["removed:OwnBucket"],
  },
  {
    title: "a table of the team's own is added",
    change: add("OwnTable", { Type: "AWS::DynamoDB::Table" }),
    names: ["added:OwnTable"],
  },
  {
    title: "functions move to a table that no restore has made",
    change: (next) => {
      const { id, resource } = one(next, ...orders);
      const Properties = { ...resource.Properties, TableName: "OTHER", BillingMode: "PROVISIONED" };
      next.Resources["Other"] = { ...resource, Metadata: {}, Properties };
      for (const { Properties: properties } of every(next, "Lambda::Function")) {
        const variables = properties?.["Environment"].Variables;
        if (variables.ORDERS_TABLE?.Ref === id) variables.ORDERS_TABLE = { Ref: "Other" };
      }
    },
    names: ["orders-table-in-use", "added:Other"],
  },
];
