import { Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import { type Environment, environments } from "../../infra/environments.ts";
import { ordersStack } from "../helpers/synthesise.ts";

/** The template of an environment as if it were production, its deployment named without the hash of the rest. */
function asProduction(environment: Environment): unknown {
  const text = JSON.stringify(Template.fromStack(ordersStack(environment)).toJSON());
  return JSON.parse(
    text.replaceAll("staging", "production").replaceAll(/ApiRestDeployment(?!Stage)\w+/g, "Deployment"),
  );
}

describe("the environments", () => {
  test("differ only in what their records say", () => {
    const renamed = asProduction({ ...environments.production, name: "staging" });
    expect(renamed).toEqual(asProduction(environments.production));
  });

  test("make a new deployment when a setting of the authorizer changes, which otherwise would never take effect", () => {
    const deployment = (changes: Partial<Environment>) =>
      Object.keys(
        Template.fromStack(ordersStack({ ...environments.production, ...changes })).findResources(
          "AWS::ApiGateway::Deployment",
        ),
      );
    const before = deployment({});
    expect(deployment({})).toEqual(before);
    for (const change of [{ authorizerCacheSeconds: 59 }, { apiKeyPrefix: "pets_test" } as const]) {
      expect(deployment(change), `the deployment with ${JSON.stringify(change)}`).not.toEqual(before);
    }
  });
});
