import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { type Environment, environments } from "../../infra/environments.ts";
import { OrdersStack } from "../../infra/orders-stack.ts";

/** The stack of an environment, without bundling its functions. */
export function ordersStack(environment: Environment): OrdersStack {
  const app = new App({ context: { "aws:cdk:bundling-stacks": [] }, analyticsReporting: false });
  return new OrdersStack(app, "PetStoreOrders", environment);
}

/** The templates of both environments as they are deployed. */
export const templates = Object.values(environments).map(
  (environment) => [environment.name, Template.fromStack(ordersStack(environment)), environment] as const,
);

/** The resources of a type, each with its logical id. */
export function resources(template: Template, type: string): [string, Record<string, unknown>][] {
  return Object.entries(template.findResources(type)).map(([id, resource]) => [id, resource["Properties"]]);
}

/** Every path of the API that has a method, with what the method is. */
export function methods(template: Template): Map<string, Record<string, unknown>> {
  const parts = new Map(resources(template, "AWS::ApiGateway::Resource"));
  const path = (reference: unknown): string => {
    const { Ref: id } = reference as { Ref?: string };
    if (id === undefined) return "";
    const { ParentId, PathPart } = parts.get(id) ?? {};
    return `${path(ParentId)}/${PathPart}`;
  };
  return new Map(
    resources(template, "AWS::ApiGateway::Method").map(([, method]) => [
      `${method["HttpMethod"]} ${path(method["ResourceId"]) || "/"}`,
      method,
    ]),
  );
}
