import { expect, test } from "vitest";
import policy from "../../../infra/stack-policy.json" with { type: "json" };
import { deployedTemplate } from "./templates.ts";

const types =
  "ApiGateway::Authorizer ApiGateway::BasePathMapping ApiGateway::DomainName ApiGateway::RestApi DynamoDB::Table Logs::LogGroup";

test("the stack policy allows all but to replace or delete the API's address, and all that outlives the stack", () => {
  const list = types.split(" ").map((type) => `"AWS::${type}"`);
  expect(JSON.stringify(policy)).toBe(
    `{"Statement":[{"Effect":"Allow","Principal":"*","Action":"Update:*","Resource":"*"},{"Effect":"Deny","Principal":"*","Action":["Update:Replace","Update:Delete"],"Resource":"*","Condition":{"StringEquals":{"ResourceType":[${list}]}}}]}`,
  );
  const resources = Object.values(deployedTemplate.Resources);
  expect(resources.map(({ Type }) => `"${Type}"`)).toEqual(expect.arrayContaining(list));
  for (const { Type, ...resource } of resources)
    if (resource["DeletionPolicy"] === "Retain") expect(list).toContain(`"${Type}"`);
});
