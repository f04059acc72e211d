import type { Resource } from "@aws-cdk/cloudformation-diff";
import { resolveIntrinsics } from "../template/intrinsics.ts";

/** A CloudFormation template. */
export interface Template {
  Description?: string;
  Resources: Record<string, Resource>;
  Outputs?: Record<string, { Value: unknown; Export?: unknown }>;
}

/** The account and region of a stack. */
export interface Place {
  account: string;
  region: string;
}

/** A move of the functions from one table to another. */
export interface TableMove {
  /** The finding's name. */
  name: string;
  /** The variable in which functions find the table. */
  variable: string;
  /** The tables in use before and after, for people. */
  was: string;
  is: string;
  /** The logical ids, or names, of both. */
  tables: Set<string>;
}

/** The variables in which functions find their tables, each with the name of the finding. */
const tableVariables = {
  ORDERS_TABLE: "orders-table-in-use",
  API_KEYS_TABLE: "keys-table-in-use",
};

/** Finds the variables whose tables change. Tables are compared by name where they have one. */
export function tableMoves(deployed: Template, next: Template): TableMove[] {
  const variables = Object.keys(tableVariables);
  return Object.entries(tableVariables).flatMap(([variable, name]) => {
    const before = tablesInUse(deployed, variable);
    const after = tablesInUse(next, variable);
    const was = tableNames(deployed, before);
    const is = tableNames(next, after);
    const isNewFunction = before.length === 0;
    if (isNewFunction || was === is) return [];
    // A table that another variable names too stays apart, or a role could gain it unseen.
    const others = variables.filter((other) => other !== variable);
    const named = others.flatMap((other) =>
      [deployed, next].flatMap((template) => tablesInUse(template, other)),
    );
    const tables = new Set([...before, ...after]).difference(new Set(named));
    return [{ name, variable, was, is, tables }];
  });
}

/** The logical ids, or names, of the tables that functions find in a variable. */
function tablesInUse({ Resources }: Template, variable: string): string[] {
  const values = Object.values(Resources).flatMap(
    ({ Properties }) => Properties?.["Environment"]?.Variables?.[variable] ?? [],
  );
  return [...new Set(values.map((value): string => value.Ref ?? value))].sort();
}

function tableNames(template: Template, tables: string[]): string {
  if (tables.length === 0) return "nothing";
  return tables
    .map((id) => template.Resources[id]?.Properties?.["TableName"] ?? constructPath(template, id))
    .join(" and ");
}

/**
 * Rewrites a template so that equal meanings read alike. References become text like
 * `${Orders1A2B.Arn}`; account and region are spelt out where `place` has them. All references to a
 * moved table read alike, because whatever refers to it moves along.
 */
export function comparable(template: Template, moves: TableMove[], place?: Place): Template {
  const values = new Map<string, string | undefined>([
    ["AWS::AccountId", place?.account],
    ["AWS::Region", place?.region],
  ]);
  const moveOf = (id: string) => moves.find(({ tables }) => tables.has(id));
  return resolveIntrinsics(template, (id, attribute) => {
    const name = moveOf(id)?.variable ?? id;
    if (attribute) return `\${${name}.${attribute}}`;
    return values.get(id) ?? `\${${name}}`;
  }) as Template;
}

/** The id in a text that is one reference, like `${Orders1A2B.Arn}`. */
export function referredId(text: unknown): string | undefined {
  return /^\$\{(\w+)(\.\w+)?\}$/.exec(String(text))?.[1];
}

/** The resource that such a text refers to. */
export function referredResource(text: unknown, { Resources }: Template): Resource | undefined {
  const id = referredId(text);
  return id === undefined ? undefined : Resources[id];
}

/**
 * The path of a resource's construct in its stack, like `Api/BearerKeys`; its logical id where the
 * template has no path.
 */
export function constructPath({ Resources }: Template, id: string): string {
  const path: string = Resources[id]?.["Metadata"]?.["aws:cdk:path"] ?? id;
  return path.replace(/^[^/]*\//, "").replace(/\/Resource$/, "");
}

/** Replaces a text's references to resources with the paths of their constructs. */
export function withPaths(text: string, template: Template): string {
  return text.replace(
    /\$\{(\w+)(\.?[\w.]*)\}/g,
    (_, id: string, attribute: string) => `${constructPath(template, id)}${attribute}`,
  );
}

/**
 * Lists the values that only the next template takes from outside, like a secret or an import. They
 * can change without a deployment.
 */
export function newOutsideValues(deployed: Template, next: Template): string[] {
  const references = (template: Template) =>
    new Set(
      JSON.stringify(template).match(
        /\{\{resolve:[^}]*\}\}|"Fn::(?:ImportValue|Transform)":[^,}]*/g,
      ),
    );
  return [...references(next).difference(references(deployed))];
}
