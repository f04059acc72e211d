import type { Resource } from "@aws-cdk/cloudformation-diff";
import type { Environment } from "../../../infra/environments.ts";
import {
  constructPath,
  type Template,
} from "../../../infra/tools/deploy/compare-templates.ts";
import { review } from "../../../infra/tools/deploy/review.ts";
import { everyOption } from "../../helpers/fixture-environments.ts";
import { templateOf } from "../../helpers/synthesise.ts";

/**
 * An environment's template, with the paths that CDK's command line adds, and code of its own for each
 * function.
 */
export function synthesised(environment: Environment): Template {
  const context = { "aws:cdk:enable-path-metadata": true };
  const template = structuredClone(templateOf(environment, context).toJSON()) as Template;
  for (const [index, { Properties }] of every(template, "Lambda::Function").entries())
    Object.assign(Properties?.["Code"], { S3Key: codeKey(index) });
  return template;
}

/** The key of an asset of CDK. */
export const codeKey = (id: number) => `${`${id}`.padStart(64, "0")}.zip`;

/** The resource of a construct by its path, like `Api/Rest`. */
export function at(template: Template, path: string) {
  const all = Object.entries(template.Resources);
  const found = all.find((entry) => constructPath(...entry) === path);
  if (!found) throw new Error(`No resource at ${path}`);
  const [id, resource] = found;
  resource.Properties ??= {};
  return { id, resource, properties: resource.Properties };
}

export function every({ Resources }: Template, type: string) {
  return Object.values(Resources).filter(({ Type }) => Type === `AWS::${type}`);
}

export const deployedTemplate = synthesised(everyOption);

export const cancelRoute = "Api/Rest/Default/store/orders/{orderId}/DELETE";

export type Change = (next: Template) => unknown;

export function changed(change: Change, template = deployedTemplate): Template {
  const next = structuredClone(template);
  change(next);
  return next;
}

export const reviewBetween = (was: Template, is: Template) =>
  review({ template: was }, { template: is }, everyOption.account);

export const linesBetween = (was: Template, is: Template) =>
  reviewBetween(was, is).flatMap(({ lines }) => lines);

export const linesOf = (change: Change) =>
  linesBetween(deployedTemplate, changed(change));

/** Sets a property, like `CancelOrder.Code.S3Key`; undefined removes it. */
export const set = (path: string, value: unknown) => (next: Template) => {
  const { owner, name } = find(next, path);
  owner[name] = value;
};

export const edit =
  (path: string, change: (list: unknown[]) => unknown) => (next: Template) => {
    const { owner, name } = find(next, path);
    change(owner[name]);
  };

export const push = (path: string, value: unknown) =>
  edit(path, (list) => list.push(value));

export const add = (id: string, type: string, Properties: object) => (next: Template) => {
  next.Resources[id] = { Type: `AWS::${type}`, Properties };
};

/** Adds a resource like another one, but for these properties and attributes. */
export const addLike =
  (
    path: string,
    id: string,
    properties: object = {},
    attributes: Partial<Resource> = {},
  ) =>
  (next: Template) => {
    const { resource } = at(next, path);
    const Properties = { ...resource.Properties, ...properties };
    next.Resources[id] = { ...resource, Metadata: {}, ...attributes, Properties };
  };

export const reference = (template: Template, path: string) => ({
  Ref: at(template, path).id,
});

function find(next: Template, path: string) {
  const constructs = Object.entries(next.Resources).map((entry) =>
    constructPath(...entry),
  );
  const construct =
    constructs.find((candidate) => path.startsWith(`${candidate}.`)) ?? "";
  const names = path.slice(construct.length + 1).split(".");
  const name = names.pop() ?? "";
  let owner = at(next, construct).properties;
  for (const part of names) owner = owner[part];
  return { owner, name };
}
