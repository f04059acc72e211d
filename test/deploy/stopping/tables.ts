import { every, one } from "../templates.ts";
import type { StoppingChange } from "./stopping-change.ts";

/** Changes of tables, and of a team's own resources, that someone would mind. */
export const tablesChanges: StoppingChange[] = [
  {
    title: "the stream of the orders table is switched off",
    change: (next) =>
      delete one(next, "DynamoDB::Table", "Orders").properties["StreamSpecification"],
    names: ["changed:Orders.StreamSpecification"],
  },
  {
    title: "one of two writing accounts is removed",
    change: (next) => {
      const [allowed] = one(next, "DynamoDB::Table", "Orders").properties["ResourcePolicy"]
        .PolicyDocument.Statement;
      allowed.Principal.AWS.pop();
    },
    names: ["changed:Orders.ResourcePolicy.PolicyDocument.Statement.0.Principal.AWS"],
  },
  {
    title: "a writing account is added",
    change: (next) => {
      const [allowed] = one(next, "DynamoDB::Table", "Orders").properties["ResourcePolicy"]
        .PolicyDocument.Statement;
      allowed.Principal.AWS.push("444444444444");
    },
    names: ["changed:Orders.ResourcePolicy.PolicyDocument.Statement.0.Principal.AWS"],
  },
  {
    title: "orders expire",
    change: (next) => {
      const expiry = { AttributeName: "shipDate", Enabled: true };
      one(next, "DynamoDB::Table", "Orders").properties["TimeToLiveSpecification"] = expiry;
    },
    names: ["changed:Orders.TimeToLiveSpecification"],
  },
  {
    title: "the key of orders gets another type",
    change: (next) => {
      const attributes = [{ AttributeName: "id", AttributeType: "S" }];
      one(next, "DynamoDB::Table", "Orders").properties["AttributeDefinitions"] = attributes;
    },
    names: ["changed:Orders.AttributeDefinitions.0.AttributeType"],
  },
  {
    title: "a table is replaced by one with another key",
    change: (next) => {
      const key = [{ AttributeName: "orderId", KeyType: "HASH" }];
      one(next, "DynamoDB::Table", "Orders").properties["KeySchema"] = key;
    },
    names: ["replaced:Orders"],
  },
  {
    title: "a table loses its throughput limit",
    change: (next) =>
      delete one(next, "DynamoDB::Table", "Orders").properties["OnDemandThroughput"],
    names: ["changed:Orders.OnDemandThroughput"],
  },
  {
    title: "a bucket of the team's own is removed",
    change: (next) => delete next.Resources["OwnBucket"],
    names: ["removed:OwnBucket"],
  },
  {
    title: "a table of the team's own is added",
    change: (next) => {
      next.Resources["OwnTable"] = { Type: "AWS::DynamoDB::Table" };
    },
    names: ["added:OwnTable"],
  },
  {
    title: "the table of keys has a stream",
    change: (next) => {
      const stream = { StreamViewType: "NEW_AND_OLD_IMAGES" };
      one(next, "DynamoDB::Table", "ApiKeys").properties["StreamSpecification"] = stream;
    },
    names: ["changed:ApiKeys.StreamSpecification"],
  },
  {
    title: "functions move to a table that no restore has made",
    change: (next) => {
      const { id, resource } = one(next, "DynamoDB::Table", "Orders");
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
