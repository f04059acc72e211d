import type { Resource } from "@aws-cdk/cloudformation-diff";
import type { Template } from "../../../infra/deploy/template.ts";
import { one } from "../templates.ts";

/** A change that stops a deployment, and the names of its findings. */
export interface StoppingChange {
  title: string;
  change: (next: Template) => unknown;
  names: string[];
}

/** The one resource of a type whose logical id begins like this. */
export type Which = [type: string, start?: string];

/** Sets a resource's property, by its path, like `MethodSettings.0.DataTraceEnabled`. */
export const set = (which: Which, path: string, value: unknown) => (next: Template) => {
  const { owner, name } = propertyOf(next, which, path);
  owner[name] = value;
};

export const unset = (which: Which, path: string) => (next: Template) => {
  const { owner, name } = propertyOf(next, which, path);
  delete owner[name];
};

/** Appends to a list. */
export const push = (which: Which, path: string, value: unknown) => (next: Template) => {
  const { owner, name } = propertyOf(next, which, path);
  owner[name].push(value);
};

export const remove = (which: Which) => (next: Template) =>
  delete next.Resources[one(next, ...which).id];

export const add = (id: string, resource: Resource) => (next: Template) => {
  next.Resources[id] = resource;
};

function propertyOf(next: Template, which: Which, path: string) {
  const names = path.split(".");
  const name = names.pop() ?? "";
  const { properties } = one(next, ...which);
  const owner = names.reduce((value, part) => value[part], properties);
  return { owner, name };
}
