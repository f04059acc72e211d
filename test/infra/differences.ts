import type { Template } from "aws-cdk-lib/assertions";
import type { Environment } from "../../infra/environments.ts";
import { constructId, named } from "../helpers/named.ts";
import { templateOf } from "../helpers/synthesise.ts";

type Part = Record<string, unknown>;

/** The resources and outputs of a template. */
function parts(template: Template): Record<string, Part> {
  const { Outputs, Resources } = template.toJSON();
  return { ...Resources, ...Outputs };
}

/** Deployments and versions are named after what they contain. */
const withoutHash = (text: string) =>
  text.replaceAll(/(ApiRestDeployment|CurrentVersion)[\da-fA-F]{16,}/g, "$1");

/** The values in a part of a template by their paths. */
function values(part: unknown, path: string[] = []): [path: string, value: string][] {
  const value = named(part);
  if (typeof value === "object" && value !== null)
    return Object.entries(value).flatMap(([key, member]) => values(member, [...path, key]));
  return [[path.join("."), withoutHash(String(value))]];
}

/** What CloudFormation would change between two templates, by resource and property. */
export function differences(before: Template, after: Template): string {
  const [old, current] = [parts(before), parts(after)];
  const lines = Object.keys({ ...old, ...current }).flatMap((id) => {
    const name = constructId(withoutHash(id));
    const [was, is] = [old[id], current[id]];
    if (!was) return [`+ ${is?.["Type"] ?? "Output"} ${name}`];
    if (!is) return [`- ${was["Type"] ?? "Output"} ${name}`];
    const [wasHere, isHere] = [was, is].map(({ Metadata: _, Properties, ...rest }) =>
      Object.fromEntries(values({ ...Object(Properties), ...rest })),
    );
    const changed = Object.keys({ ...wasHere, ...isHere }).flatMap((path) => {
      const [from = "nothing", to = "nothing"] = [wasHere?.[path], isHere?.[path]];
      return from === to ? [] : [`  ${path}: ${from} -> ${to}`];
    });
    return changed.length > 0 ? [name, ...changed] : [];
  });
  return ["", ...lines, ""].join("\n");
}

/** What settings change in an environment's template. */
export const changes = (environment: Environment, settings: Partial<Environment>): string =>
  differences(templateOf(environment), templateOf({ ...environment, ...settings }));
