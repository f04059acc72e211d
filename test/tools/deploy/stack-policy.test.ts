import { expect, test } from "vitest";
import policy from "../../../infra/stack-policy.json" with { type: "json" };
import { deployedTemplate } from "./templates.ts";

test("the stack policy protects types that the stack has, and every one that outlives it", () => {
  const protectedTypes = policy.Statement.flatMap(
    ({ Condition }) => Condition?.StringEquals.ResourceType ?? [],
  );
  const resources = Object.values(deployedTemplate.Resources);
  const types = resources.map(({ Type }) => Type);
  const kept = resources.filter((resource) => resource["DeletionPolicy"] === "Retain");
  expect(types).toEqual(expect.arrayContaining(protectedTypes));
  expect(kept).not.toEqual([]);
  expect(protectedTypes).toEqual(expect.arrayContaining(kept.map(({ Type }) => Type)));
});
