import { expect, test } from "vitest";
import { functionList } from "../../infra/stack/function-list.ts";
import { resources, templates } from "../helpers/synthesise.ts";

const services = new Map([
  ["ApiRestCloudWatchRole", "apigateway.amazonaws.com"],
  ["RolloutRole", "codedeploy.amazonaws.com"],
  ...Object.values(functionList).map(({ id }) => [`${id}Role`, "lambda.amazonaws.com"] as const),
]);

test.each(templates)("each role of %s is for one service, and no one else can take it", (_name, template) => {
  const roles = resources(template, "AWS::IAM::Role");
  expect(roles.length).toBeGreaterThan(Object.keys(functionList).length);
  for (const [id, { AssumeRolePolicyDocument }] of roles) {
    const Principal = { Service: services.get(id.replace(/[0-9A-F]{8}$/, "")) };
    expect(AssumeRolePolicyDocument, id).toEqual({
      Statement: [{ Action: "sts:AssumeRole", Effect: "Allow", Principal }],
      Version: "2012-10-17",
    });
  }
});
