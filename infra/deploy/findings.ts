import { fullDiff, type Resource, type ResourceDifference } from "@aws-cdk/cloudformation-diff";
import { resolveIntrinsics } from "../template/intrinsics.ts";
import type { StackToCompare, Template } from "./stacks.ts";

/** A change to data, clients or protections that someone has to mean. */
export interface Finding {
  /** The name for `--accept`: without spaces, and the same for the same change. */
  name: string;
  /** The change, for people. */
  text: string;
}

/** The resources whose loss costs data, an address, or what keeps floods away from it. */
const irreplaceable: Record<string, string> = {
  "AWS::ApiGateway::DomainName": "domain",
  "AWS::ApiGateway::RestApi": "api",
  "AWS::ApiGateway::Stage": "stage",
  "AWS::DynamoDB::GlobalTable": "table",
  "AWS::DynamoDB::Table": "table",
  "AWS::WAFv2::WebACLAssociation": "web-acl",
};

/**
 * The protections that must not become weaker: where a resource says it, and how strong that makes
 * it.
 */
const protections: Record<
  string,
  [of: (resource: Resource) => unknown, strength: (value: unknown) => number]
> = {
  "deletion-protection": [
    (resource) => replicas(resource).every(({ DeletionProtectionEnabled: on }) => on === true),
    Number,
  ],
  "point-in-time-recovery": [
    (resource) =>
      Math.min(
        ...replicas(resource).map(({ PointInTimeRecoverySpecification: settings }) =>
          settings?.PointInTimeRecoveryEnabled === true ? (settings.RecoveryPeriodInDays ?? 35) : 0,
        ),
      ),
    Number,
  ],
  "deletion-policy": [(resource) => resource["DeletionPolicy"], retains],
  "replacement-policy": [(resource) => resource["UpdateReplacePolicy"], retains],
  "log-retention": [
    (resource) => resource.Properties?.["RetentionInDays"],
    (days) => Number(days ?? Infinity),
  ],
  // Other accounts write by it.
  "resource-policy": [
    (resource) => resource.Properties?.["ResourcePolicy"] && "set",
    (set) => Number(set === "set"),
  ],
  "gateway-address": [
    (resource) => resource.Properties?.["DisableExecuteApiEndpoint"],
    (off) => Number(off !== true),
  ],
};

/**
 * Compares a stack as it is deployed with what is about to be deployed.
 *
 * @returns what someone has to mean; nothing for ordinary changes, such as code, throttling or an
 * alarm's limit.
 */
export function findChanges(deployed: StackToCompare, next: StackToCompare): Finding[] {
  const found = [
    ...changedFacts(deployed.template, next.template),
    ...gainedActions(deployed.template, next.template),
  ];
  if (deployed.terminationProtection && !next.terminationProtection) {
    found.push({ name: "termination-protection", text: "the stack can then be deleted" });
  }
  fullDiff(deployed.template, next.template).resources.forEachDifference((id, change) => {
    found.push(...loss(id, change), ...weakened(id, change));
  });
  return found;
}

/**
 * The facts that clients and other teams rely on: the name of the finding, where the template says
 * it, and the value.
 */
function facts(template: Template): [name: string, place: string, value: string][] {
  const all = Object.values(template.Resources);
  const texts = (of: (properties: NonNullable<Resource["Properties"]>) => unknown) => {
    const values = all.flatMap(({ Properties = {} }) => of(Properties) ?? []);
    return [...new Set(values.map((value) => asText(value, template)))].sort().join(" and ");
  };
  const variable = (name: string) =>
    texts((properties) => properties["Environment"]?.Variables?.[name]);
  const output = (name: string) => asText(template.Outputs?.[name]?.Value ?? "", template);
  return [
    ["orders-table-in-use", "ORDERS_TABLE", variable("ORDERS_TABLE")],
    ["orders-table-in-use", "OrdersTableName", output("OrdersTableName")],
    ["keys-table-in-use", "API_KEYS_TABLE", variable("API_KEYS_TABLE")],
    ["keys-table-in-use", "ApiKeysTableName", output("ApiKeysTableName")],
    ["base-url", "BaseUrl", output("BaseUrl")],
    [
      "key-expression",
      "KeyExpression",
      texts((properties) => properties["IdentityValidationExpression"]),
    ],
  ];
}

function changedFacts(deployed: Template, next: Template): Finding[] {
  const after = facts(next);
  return facts(deployed).flatMap(([name, place, was], index) => {
    const is = after[index]?.[2];
    // What the deployed template does not say yet is new.
    return was === is || was === ""
      ? []
      : [{ name, text: `${place}: ${was} becomes ${is || "nothing"}` }];
  });
}

function loss(id: string, { oldValue, isRemoval, changeImpact }: ResourceDifference): Finding[] {
  const kind = irreplaceable[oldValue?.Type ?? ""];
  if (kind === undefined) return [];
  const kept = retains(oldValue?.["DeletionPolicy"])
    ? "leaves the stack, but is kept"
    : "is deleted";
  if (isRemoval) return [{ name: `${kind}-removed:${id}`, text: kept }];
  return /_REPLACE$/.test(changeImpact)
    ? [{ name: `${kind}-replaced:${id}`, text: "is replaced by a new one" }]
    : [];
}

/** The protections that become weaker, and TLS that changes at all. */
function weakened(id: string, { oldValue, newValue }: ResourceDifference): Finding[] {
  if (!oldValue || !newValue) return [];
  const becomes = (was: unknown, is: unknown) => `${was ?? "unset"} becomes ${is ?? "unset"}`;
  const weaker = Object.entries(protections).flatMap(([name, [of, strength]]) => {
    const [was, is] = [of(oldValue), of(newValue)];
    return strength(is) < strength(was) ? [{ name: `${name}:${id}`, text: becomes(was, is) }] : [];
  });
  const tls = ["SecurityPolicy", "EndpointAccessMode"].flatMap((property) => {
    const [was, is] = [oldValue.Properties?.[property], newValue.Properties?.[property]];
    return was === is
      ? []
      : [{ name: "tls", text: `${id}: ${becomes(was, is)}; deploy it alone, without the canary` }];
  });
  return [...weaker, ...tls];
}

/** The properties of a global table's replicas, or a resource's own. */
function replicas({ Properties = {} }: Resource): NonNullable<Resource["Properties"]>[] {
  return Properties["Replicas"] ?? [Properties];
}

/** Whether CloudFormation keeps a resource that was in use: 1 or 0. */
function retains(policy: unknown): number {
  return Number(/^Retain/.test(String(policy)));
}

/**
 * The actions that a function's role has in the next template only. A new function gains nothing.
 */
function gainedActions(deployed: Template, next: Template): Finding[] {
  const before = functionActions(deployed);
  return [...functionActions(next)].flatMap(([id, actions]) => {
    const had = before.get(id) ?? actions;
    const text = `its role had ${[...had].join(", ")}`;
    return [...actions.difference(had)].map((action) => ({
      name: `action-gained:${id}:${action}`,
      text,
    }));
  });
}

/**
 * The actions, and the managed policies, that each function's role allows, by the function's
 * logical id.
 */
function functionActions(template: Template): Map<string, Set<string>> {
  const granting = Object.entries(template.Resources).filter(([, { Type }]) =>
    Type.startsWith("AWS::IAM::"),
  );
  // Compared with nothing, whatever it grants is new.
  const { managedPolicies, statements } = fullDiff(
    {},
    { Resources: Object.fromEntries(granting) },
  ).iamChanges;
  const allowed = statements.additions.filter((statement) => statement.render().effect === "Allow");
  const functions = Object.entries(template.Resources).filter(
    ([, { Type }]) => Type === "AWS::Lambda::Function",
  );
  return new Map(
    functions.map(([id, { Properties }]) => {
      const role = `\${${Properties?.["Role"]?.["Fn::GetAtt"]?.[0]}}`;
      const attached = managedPolicies.additions.filter(({ identityArn }) => identityArn === role);
      const managed = attached.map(({ managedPolicyArn }) => managedPolicyArn.replace(/.*\//, ""));
      const own = allowed.filter(({ principals }) => principals.values.includes(`AWS:${role}`));
      return [
        id,
        new Set([
          ...managed,
          ...own.flatMap(({ actions }) => (actions.not ? "*" : actions.values)),
        ]),
      ];
    }),
  );
}

/**
 * A value of a template as text, with references like `${LogicalId.Arn}`, or a table's own name
 * where it has one.
 */
function asText(value: unknown, { Resources }: Template): string {
  const resolved = resolveIntrinsics(value, (id, attribute) =>
    attribute
      ? `\${${id}.${attribute}}`
      : (Resources[id]?.Properties?.["TableName"] ?? `\${${id}}`),
  );
  return typeof resolved === "string" ? resolved : JSON.stringify(resolved);
}
