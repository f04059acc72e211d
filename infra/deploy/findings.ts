import { fullDiff, type Resource, type ResourceDifference, ResourceImpact } from "@aws-cdk/cloudformation-diff";
import { gainedActions } from "./function-actions.ts";
import { asText, type StackToCompare, type Template } from "./template.ts";

/** What a deployment would do to data, clients or protections, so that someone has to mean it. */
export interface Finding {
  /** What `--accept` takes. Without spaces, and the same for the same change. */
  name: string;
  /** What changes, for people. */
  text: string;
}

/** What clients and other teams lose when it goes: their data or an address. */
const irreplaceable: Record<string, string> = {
  "AWS::ApiGateway::DomainName": "domain",
  "AWS::ApiGateway::RestApi": "api",
  "AWS::ApiGateway::Stage": "stage",
  "AWS::DynamoDB::GlobalTable": "table",
  "AWS::DynamoDB::Table": "table",
};

/** What must not become weaker: where a resource says it, and how strong that makes it. */
const protections: Record<string, { of: (resource: Resource) => unknown; strength: (value: unknown) => number }> = {
  "deletion-protection": {
    of: ({ Properties }) => Properties?.["DeletionProtectionEnabled"],
    strength: (value) => Number(value === true),
  },
  "point-in-time-recovery": {
    of: ({ Properties }) => {
      const settings = Properties?.["PointInTimeRecoverySpecification"];
      return settings?.PointInTimeRecoveryEnabled === true ? (settings.RecoveryPeriodInDays ?? 35) : undefined;
    },
    strength: (days) => Number(days ?? 0),
  },
  "deletion-policy": { of: (resource) => resource["DeletionPolicy"], strength: retains },
  "replacement-policy": { of: (resource) => resource["UpdateReplacePolicy"], strength: retains },
  "log-retention": {
    of: ({ Properties }) => Properties?.["RetentionInDays"],
    strength: (days) => Number(days ?? Number.POSITIVE_INFINITY),
  },
  "gateway-address": {
    of: ({ Properties }) => Properties?.["DisableExecuteApiEndpoint"],
    strength: (disabled) => Number(disabled !== true),
  },
};

/**
 * Compares a stack as it is deployed with what is about to be deployed.
 *
 * @returns what someone has to mean; nothing for ordinary changes, such as code, throttling or an alarm's limit.
 */
export function findChanges(deployedStack: StackToCompare, nextStack: StackToCompare): Finding[] {
  const [{ template: deployed }, { template: next }] = [deployedStack, nextStack];
  const found = [...changedFacts(deployed, next), ...gainedActions(deployed, next)];
  if (deployedStack.terminationProtection && !nextStack.terminationProtection) {
    found.push({ name: "termination-protection", text: "the stack can then be deleted" });
  }
  const tls: string[] = [];
  fullDiff(deployed, next).resources.forEachDifference((id, change) => {
    found.push(...loss(id, change), ...weakened(id, change));
    tls.push(...tlsChanges(id, change));
  });
  if (tls.length > 0) found.push({ name: "tls", text: `${tls.join(", ")}. Deploy it alone, without the canary` });
  return found;
}

/** What clients and other teams rely on, by the name of the finding, each with where the template says it. */
function facts(template: Template): Record<string, Record<string, string>> {
  const { Resources, Outputs } = template;
  const texts = (values: unknown[]) =>
    [...new Set(values.map((value) => asText(value, template)))].sort().join(" and ");
  const all = Object.values(Resources);
  const variable = (name: string) =>
    texts(all.flatMap(({ Properties }) => Properties?.["Environment"]?.Variables?.[name] ?? []));
  const output = (name: string) => asText(Outputs?.[name]?.Value ?? "", template);
  return {
    "orders-table-in-use": { ORDERS_TABLE: variable("ORDERS_TABLE"), OrdersTableName: output("OrdersTableName") },
    "keys-table-in-use": { API_KEYS_TABLE: variable("API_KEYS_TABLE"), ApiKeysTableName: output("ApiKeysTableName") },
    "base-url": { BaseUrl: output("BaseUrl") },
    "key-expression": {
      IdentityValidationExpression: texts(
        all.flatMap(({ Properties }) => Properties?.["IdentityValidationExpression"] ?? []),
      ),
    },
  };
}

function changedFacts(deployed: Template, next: Template): Finding[] {
  const after = facts(next);
  return Object.entries(facts(deployed)).flatMap(([name, places]) => {
    const changes = Object.entries(places).flatMap(([place, was]) => {
      const is = after[name]?.[place];
      // What the deployed template does not say yet is new.
      return was === is || was === "" ? [] : [`${place}: ${was} becomes ${is || "nothing"}`];
    });
    return changes.length === 0 ? [] : [{ name, text: changes.join(", ") }];
  });
}

function loss(id: string, { oldValue, isRemoval, changeImpact }: ResourceDifference): Finding[] {
  const kind = irreplaceable[oldValue?.Type ?? ""];
  if (kind === undefined) return [];
  if (isRemoval) {
    const text = retains(oldValue?.["DeletionPolicy"]) ? "leaves the stack, but is kept" : "is deleted";
    return [{ name: `${kind}-removed:${id}`, text }];
  }
  const replaced = changeImpact === ResourceImpact.WILL_REPLACE || changeImpact === ResourceImpact.MAY_REPLACE;
  return replaced ? [{ name: `${kind}-replaced:${id}`, text: "is replaced by a new one" }] : [];
}

function weakened(id: string, { oldValue, newValue }: ResourceDifference): Finding[] {
  if (!oldValue || !newValue) return [];
  return Object.entries(protections).flatMap(([name, { of, strength }]) => {
    const [was, is] = [of(oldValue), of(newValue)];
    if (strength(is) >= strength(was)) return [];
    return [{ name: `${name}:${id}`, text: `${was ?? "unset"} becomes ${is ?? "unset"}` }];
  });
}

function tlsChanges(id: string, { oldValue, newValue }: ResourceDifference): string[] {
  if (!oldValue || !newValue) return [];
  return ["SecurityPolicy", "EndpointAccessMode"].flatMap((name) => {
    const [was, is] = [oldValue.Properties?.[name], newValue.Properties?.[name]];
    return was === is ? [] : [`${id}: ${was ?? "unset"} becomes ${is ?? "unset"}`];
  });
}

/** Whether CloudFormation keeps a resource that was in use: 1 or 0. */
function retains(policy: unknown): number {
  return Number(policy === "Retain" || policy === "RetainExceptOnCreate");
}
