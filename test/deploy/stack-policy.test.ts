import { expect, test } from "vitest";
import policy from "../../infra/stack-policy.json" with { type: "json" };
import { deployedTemplate } from "./templates.ts";

const protectedTypes = policy.Statement.flatMap(
  ({ Condition }) => Condition?.StringEquals.ResourceType ?? [],
);
const resources = Object.values(deployedTemplate.Resources);

test("the stack policy protects only types that the stack has", () => {
  const types = new Set(resources.map(({ Type }) => Type));
  expect(protectedTypes.filter((type) => !types.has(type))).toEqual([]);
});

test("the stack policy protects every type that outlives its stack", () => {
  const kept = resources.filter((resource) => resource["DeletionPolicy"] === "Retain");
  const types = [...new Set(kept.map(({ Type }) => Type))];
  expect(types.length).toBeGreaterThan(0);
  expect(types.filter((type) => !protectedTypes.includes(type))).toEqual([]);
});
