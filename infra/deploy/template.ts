import type { Resource } from "@aws-cdk/cloudformation-diff";

/** The parts of a CloudFormation template that are compared. */
export interface Template {
  Resources: Record<string, Resource>;
  Outputs?: Record<string, { Value: unknown }>;
}

/** A stack as it is deployed, or as it is about to be. */
export interface StackToCompare {
  template: Template;
  /** No template says it. */
  terminationProtection?: boolean;
}

/** A value of a template as text, with references like `${LogicalId.Arn}`, or a table's own name where it has one. */
export function asText(value: unknown, { Resources }: Template): string {
  const resolved: unknown = JSON.parse(JSON.stringify(value), (_key, part) => {
    if (typeof part?.Ref === "string") {
      const name: unknown = Resources[part.Ref]?.Properties?.["TableName"];
      return typeof name === "string" ? name : `\${${part.Ref}}`;
    }
    if (part?.["Fn::GetAtt"]) return `\${${[part["Fn::GetAtt"]].flat().join(".")}}`;
    if (part?.["Fn::Join"]) return part["Fn::Join"][1].map(plain).join(part["Fn::Join"][0]);
    return part;
  });
  return plain(resolved);
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
