import { expect, test } from "vitest";
import policy from "../../../infra/stack-policy.json" with { type: "json" };
import { deployedTemplate } from "./templates.ts";

/** Clients know the API by them. */
const ofTheAddress = ["Authorizer", "BasePathMapping", "DomainName", "RestApi"];

test("the stack policy allows all but to replace or delete the address, and what outlives the stack", () => {
  const resources = Object.values(deployedTemplate.Resources);
  const kept = resources.filter((resource) => resource["DeletionPolicy"] === "Retain");
  const types = [
    ...ofTheAddress.map((type) => `AWS::ApiGateway::${type}`),
    ...kept.map(({ Type }) => Type),
  ];
  expect(resources.map(({ Type }) => Type)).toEqual(expect.arrayContaining(types));
  const everything = { Principal: "*", Resource: "*" };
  const ResourceType = [...new Set(types)].sort();
  expect(policy.Statement).toEqual([
    { ...everything, Effect: "Allow", Action: "Update:*" },
    {
      ...everything,
      Effect: "Deny",
      Action: ["Update:Replace", "Update:Delete"],
      Condition: { StringEquals: { ResourceType } },
    },
  ]);
});
