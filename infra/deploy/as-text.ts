import type { Template } from "./stacks.ts";

/** A value of a template as text, with references like `${LogicalId.Arn}`, or a table's own name where it has one. */
export function asText(value: unknown, { Resources }: Template): string {
  const resolved: unknown = JSON.parse(JSON.stringify(value), (_key, part) => {
    if (part?.Ref) return Resources[part.Ref]?.Properties?.["TableName"] ?? `\${${part.Ref}}`;
    if (part?.["Fn::GetAtt"]) return `\${${part["Fn::GetAtt"].join(".")}}`;
    if (part?.["Fn::Join"]) return part["Fn::Join"][1].map(plain).join(part["Fn::Join"][0]);
    return part;
  });
  return plain(resolved);
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
