import type { Resource } from "@aws-cdk/cloudformation-diff";
import type { Finding } from "./findings.ts";
import { asText, type Template } from "./template.ts";

/** Finds the actions that a function's role has in the next template only. A new function gains nothing. */
export function gainedActions(deployed: Template, next: Template): Finding[] {
  const before = functionActions(deployed);
  return functionActions(next)
    .entries()
    .flatMap(([id, actions]) => {
      const had = before.get(id) ?? actions;
      return [...actions.difference(had)].map((action) => ({
        name: `action-gained:${id}:${action}`,
        text: `its role had ${[...had].join(", ")}`,
      }));
    })
    .toArray();
}

/** The actions, and the managed policies, that each function's role allows, by the function's logical id. */
function functionActions(template: Template): Map<string, Set<string>> {
  const resources = Object.entries(template.Resources);
  const functions = resources.filter(([, { Type }]) => Type === "AWS::Lambda::Function");
  return new Map(
    functions.map(([id, { Properties }]) => {
      const roleId = asText(Properties?.["Role"] ?? "", template).replace(/^\$\{(.*)\.Arn\}$/, "$1");
      const role = template.Resources[roleId]?.Properties ?? {};
      const managed = [role["ManagedPolicyArns"] ?? []].flat().map((arn) => asText(arn, template).replace(/.*\//, ""));
      const attached = resources.flatMap(([, { Properties: policy }]) =>
        [policy?.["Roles"] ?? []].flat().some((ref) => asText(ref, template) === `\${${roleId}}`) ? [policy] : [],
      );
      return [id, new Set([...managed, ...[...(role["Policies"] ?? []), ...attached].flatMap(allowed)])];
    }),
  );
}

function allowed(policy: Resource["Properties"]): string[] {
  return [policy?.["PolicyDocument"]?.Statement ?? []]
    .flat()
    .flatMap(({ Effect, Action }) => (Effect === "Allow" ? (Action ?? "*") : []));
}
