import { Template } from "aws-cdk-lib/assertions";
import { CfnFunction } from "aws-cdk-lib/aws-lambda";
import { describe, expect, test } from "vitest";
import type { Environment } from "../../infra/environments.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { ordersStack } from "../helpers/synthesise.ts";

interface Resource {
  Type: string;
  Properties: Record<string, unknown>;
}

describe("a change of code only", () => {
  /** The changes that a deployment of other code would make, by resource type. */
  function changes(environment: Environment): Record<string, string[]> {
    const template = (code?: string): Record<string, Resource> => {
      const stack = ordersStack(environment);
      for (const construct of stack.node.findAll()) {
        if (code !== undefined && construct instanceof CfnFunction) construct.addPropertyOverride("Code.S3Key", code);
      }
      return Template.fromStack(stack).toJSON()["Resources"];
    };
    const [before, after] = [template(), template("other.zip")];
    const changed: Record<string, string[]> = {};
    for (const id of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const [old, now] = [before[id], after[id]];
      const names = new Set([...Object.keys(old?.Properties ?? {}), ...Object.keys(now?.Properties ?? {})]);
      const differing = [...names].filter(
        (name) => JSON.stringify(old?.Properties[name]) !== JSON.stringify(now?.Properties[name]),
      );
      const kind = old === undefined ? "added" : now === undefined ? "removed" : differing.join();
      const type = old?.Type ?? now?.Type ?? "";
      if (kind !== "") changed[type] = [...new Set([...(changed[type] ?? []), kind])].sort();
    }
    return changed;
  }

  test.each([everyOption, noOption])("replaces no resource of $name except the functions' versions", (environment) => {
    expect(changes(environment)).toEqual({
      "AWS::Lambda::Function": ["Code"],
      "AWS::Lambda::Alias": ["FunctionVersion"],
      "AWS::Lambda::Version": ["added", "removed"],
    });
  });
});
