import { asText } from "./as-text.ts";
import type { Finding } from "./findings.ts";
import type { Template } from "./stacks.ts";

/** Finds the actions that a function's role has in the next template only. A new function gains nothing. */
export function gainedActions(deployed: Template, next: Template): Finding[] {
  const before = functionActions(deployed);
  return [...functionActions(next)].flatMap(([id, actions]) => {
    const had = before.get(id) ?? actions;
    const text = `its role had ${[...had].join(", ")}`;
    return [...actions.difference(had)].map((action) => ({ name: `action-gained:${id}:${action}`, text }));
  });
}

/** The actions, and the managed policies, that each function's role allows, by the function's logical id. */
function functionActions(template: Template): Map<string, Set<string>> {
  const resources = Object.entries(template.Resources);
  const functions = resources.filter(([, { Type }]) => Type === "AWS::Lambda::Function");
  return new Map(
    functions.map(([id, { Properties }]) => {
      const roleId: string = Properties?.["Role"]?.["Fn::GetAtt"]?.[0] ?? "";
      const role = template.Resources[roleId]?.Properties ?? {};
      const managed = (role["ManagedPolicyArns"] ?? []).map((arn: unknown) =>
        asText(arn, template).replace(/.*\//, ""),
      );
      const policies = resources.flatMap(([, resource]) => resource.Properties ?? []);
      const attached = policies.filter((policy) => asText(policy["Roles"] ?? "", template).includes(`\${${roleId}}`));
      const documents = [...attached, ...(role["Policies"] ?? [])].map((policy) => policy.PolicyDocument);
      const allowed = documents.flatMap((document) => document.Statement).filter(({ Effect }) => Effect === "Allow");
      return [id, new Set([...managed, ...allowed.flatMap(({ Action }) => Action ?? "*")])];
    }),
  );
}
