import { constructPath, type Template } from "../../infra/deploy/template.ts";
import type { Environment } from "../../infra/environments.ts";
import { everyOption } from "../helpers/fixture-environments.ts";
import { templateOf } from "../helpers/synthesise.ts";

const { domain, ...rest } = everyOption;

/** Every setting but a domain. */
export const settings: Environment = rest;

/** The template of an environment's stack, with the paths that CDK's command line adds. */
export function synthesised(environment: Environment): Template {
  const context = { "aws:cdk:enable-path-metadata": true };
  return templateOf(environment, context).toJSON() as Template;
}

/** The resource of a construct by its path, like `Api/Rest`. */
export function at(template: Template, path: string) {
  const all = Object.entries(template.Resources);
  const found = all.find(([id]) => constructPath(template, id) === path);
  if (!found) throw new Error(`No resource at ${path}`);
  const [id, resource] = found;
  resource.Properties ??= {};
  return { id, resource, properties: resource.Properties };
}

/** All resources of a type. */
export function every({ Resources }: Template, type: string) {
  return Object.values(Resources).filter(({ Type }) => Type === `AWS::${type}`);
}

/** Has all settings, permissions boundaries, two accounts that write orders, a team's bucket. */
export const deployedTemplate: Template = withOwnParts();

function withOwnParts(): Template {
  const writerAccounts = ["222222222222", "333333333333"];
  const template = structuredClone(synthesised({ ...settings, domain, writerAccounts }));
  for (const { Properties = {} } of every(template, "IAM::Role"))
    Properties["PermissionsBoundary"] = "arn:aws:iam::111111111111:policy/boundary";
  template.Resources["OwnBucket"] = { Type: "AWS::S3::Bucket" };
  return template;
}
