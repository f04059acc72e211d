import { Template } from "aws-cdk-lib/assertions";
import { App } from "aws-cdk-lib/core";
import type { Environment } from "../../infra/environments.ts";
import { OrdersStack } from "../../infra/stack/orders-stack.ts";
import { constructId, named } from "./named.ts";

/**
 * The stack of an environment, without what takes time and changes no template. It ignores `cdk.json`,
 * which has a company's bootstrap qualifier.
 */
export function ordersStack(
  environment: Environment,
  context: Record<string, unknown> = {},
) {
  const quick = {
    "aws:cdk:bundling-stacks": [],
    "aws:cdk:disable-creation-stack-traces": true,
  };
  const app = new App({
    context: { ...quick, ...context },
    analyticsReporting: false,
    builtinCloudFormationValidation: false,
    stackTraces: false,
    treeMetadata: false,
  });
  return new OrdersStack(app, "PetStoreOrders", environment);
}

const templates = new Map<string, Template>();

/** The template of an environment's stack, frozen: test files in one process share it. */
export function templateOf(
  environment: Environment,
  context: Record<string, unknown> = {},
) {
  const key = JSON.stringify([environment, context]);
  const known = templates.get(key);
  if (known) return known;
  const made = Template.fromStack(ordersStack(environment, context)).toJSON();
  const frozen = JSON.parse(JSON.stringify(made), (_name, value) => Object.freeze(value));
  const template = Template.fromJSON(frozen);
  templates.set(key, template);
  return template;
}

/** The properties of the first resource of a type, with names instead of references. */
export const firstOf = (template: Template, type: string) =>
  rows(template, type)[0]?.[1] ?? {};

/** The resources of a type, each by its construct's id, with names instead of references. */
export const rows = (template: Template, type: string) =>
  Object.entries(template.findResources(type)).map(
    ([id, { Properties }]) => [constructId(id), Object(named(Properties))] as const,
  );
