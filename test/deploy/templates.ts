import type { Template } from "../../infra/deploy/template.ts";
import type { Environment } from "../../infra/environments.ts";
import { everyOption } from "../helpers/fixture-environments.ts";
import { templateOf } from "../helpers/synthesise.ts";

const { domain, ...rest } = everyOption;

/** Every setting but a domain. */
export const settings: Environment = rest;
export const withDomain: Environment = { ...settings, domain };

/** The template of an environment's stack, with the paths that CDK's command line adds. */
export function synthesised(environment: Environment): Template {
  const context = { "aws:cdk:enable-path-metadata": true };
  return templateOf(environment, context).toJSON() as Template;
}

/** The one resource of a type whose logical id begins like this. */
export function one({ Resources }: Template, type: string, start = "") {
  const all = Object.entries(Resources);
  const found = all.filter(([id, { Type }]) => Type === `AWS::${type}` && id.startsWith(start));
  const [first] = found;
  if (!first || found.length > 1) throw new Error(`${found.length} of ${type} ${start}`);
  const [id, resource] = first;
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
  const template = structuredClone(synthesised({ ...withDomain, writerAccounts }));
  for (const { Properties = {} } of every(template, "IAM::Role")) {
    Properties["PermissionsBoundary"] = "arn:aws:iam::111111111111:policy/boundary";
  }
  template.Resources["OwnBucket"] = { Type: "AWS::S3::Bucket" };
  return template;
}
