import type { Template } from "aws-cdk-lib/assertions";
import { type Change, listChanges } from "../../infra/tools/deploy/changes.ts";
import { constructId, named } from "../helpers/named.ts";

function parts(template: Template) {
  const { Outputs, Resources } = Object(named(template.toJSON()));
  const outputs = Object.entries<object>(Outputs).map(
    ([id, output]) => [id, { Type: "Output", ...output }] as const,
  );
  return { ...Resources, ...Object.fromEntries(outputs) };
}

/** Deployments and versions are named after what they contain. */
const withoutHash = (text: string) =>
  text.replaceAll(/(ApiRestDeployment|CurrentVersion)[\da-fA-F]{16,}/g, "$1");

const isReference = (text: string) => /: (".+") -> \1$/.test(text);

function textOf({ is, kind, property, replaces, type, was }: Change): string {
  if (kind !== "changed") return `${kind}: ${type}`;
  const [from = "unset", to = "unset"] = [was, is].map((value) => JSON.stringify(value));
  const name = property.replace("Properties.", "");
  return withoutHash(`${name}: ${from} -> ${to}${replaces ? ", which replaces it" : ""}`);
}

/** What CloudFormation would change between two templates, by the resources that it is about. */
export function differences(before: Template, after: Template): string {
  const byText = Map.groupBy(listChanges(parts(before), parts(after)), textOf);
  const texts = Array.from(byText).filter(([text]) => !isReference(text));
  const byPaths = Map.groupBy(texts, ([, changes]) =>
    changes.map(({ path }) => constructId(withoutHash(path))).join(", "),
  );
  return Array.from(byPaths, ([paths, changes]) =>
    ["", paths, ...changes.map(([text]) => `  ${text}`)].join("\n"),
  ).join("");
}
