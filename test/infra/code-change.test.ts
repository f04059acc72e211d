import { Template } from "aws-cdk-lib/assertions";
import { CfnFunction } from "aws-cdk-lib/aws-lambda";
import { describe, expect, test } from "vitest";
import { type Environment, environments } from "../../infra/environments.ts";
import { functionList } from "../../infra/stack/function-list.ts";
import { ordersStack, templates } from "../helpers/synthesise.ts";

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

  test.each(Object.values(environments))(
    "replaces no resource of $name except the functions' versions",
    (environment) => {
      expect(changes(environment)).toEqual({
        "AWS::Lambda::Function": ["Code"],
        "AWS::Lambda::Alias": ["FunctionVersion"],
        "AWS::Lambda::Version": ["added", "removed"],
      });
    },
  );

  // A version that survived a rolled-back update would be identical to the next attempt, which then fails.
  test.each(templates)("keeps old versions of %s, but none that a failed update leaves behind", (_name, template) => {
    const versions = Object.values(template.findResources("AWS::Lambda::Version"));
    expect(versions.map(({ DeletionPolicy }) => DeletionPolicy)).toEqual(
      Object.keys(functionList).map(() => "RetainExceptOnCreate"),
    );
  });
});
