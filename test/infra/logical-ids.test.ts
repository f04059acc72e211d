import { expect, test } from "vitest";
import { templates } from "../helpers/synthesise.ts";

/**
 * CloudFormation takes a resource with another logical id for a new one: a new table is empty, a new API has a new
 * address, and a new log group collides with the old one of the same name. So these stay, whatever moves in the code.
 */
const logicalIds = {
  OrdersA9B65338: "AWS::DynamoDB::Table",
  ApiKeys3BB3983D: "AWS::DynamoDB::Table",
  ApiRest4DEC74FE: "AWS::ApiGateway::RestApi",
  ApiRestDeploymentStagev1F506FEE3: "AWS::ApiGateway::Stage",
  ApiBearerKeys15658508: "AWS::ApiGateway::Authorizer",
  ListOrdersLogADAC8C65: "AWS::Logs::LogGroup",
  CancelOrderLogC0E28DCE: "AWS::Logs::LogGroup",
  AuthorizeLog069F59FD: "AWS::Logs::LogGroup",
  ApiAccessLog713001CC: "AWS::Logs::LogGroup",
  ApiExecutionLog4D3E3207: "AWS::Logs::LogGroup",
};

test.each(templates)("%s keeps the logical ids of what must not be replaced", (_name, template) => {
  const resources: Record<string, { Type: string }> = template.toJSON()["Resources"];
  const types = new Set(Object.values(logicalIds));
  const found = Object.entries(resources).filter(([, { Type }]) => types.has(Type));
  // A new function brings a log group, which keeps its id from then on.
  expect(Object.fromEntries(found.map(([id, { Type }]) => [id, Type]))).toMatchObject(logicalIds);
});
