import type { Resource } from "@aws-cdk/cloudformation-diff";
import { resolveIntrinsics } from "../template/intrinsics.ts";

/** A CloudFormation template. */
export interface Template {
  Description?: string;
  Resources: Record<string, Resource>;
  Outputs?: Record<string, { Value: unknown; Export?: unknown }>;
}

/** Where a stack is. */
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

/** Finds the tables in use that are others in the next template, by name where they have one. */
export function tableMoves(deployed: Template, next: Template): TableMove[] {
  const moves = Object.entries(tableVariables).flatMap(([variable, name]) => {
    const before = tablesInUse(deployed, variable);
    const after = tablesInUse(next, variable);
    const was = before.map((table) => tableName(deployed, table)).join(" and ");
    const is = after.map((table) => tableName(next, table)).join(" and ");
    // Without any before, the function is new.
    if (was === is || was === "") return [];
    return [{ name, variable, was, is: is || "nothing", tables: new Set([...before, ...after]) }];
  });
  // A table that another variable names, too, is no moved one: a role may only be misled to it.
  const variables = Object.keys(tableVariables);
  for (const { tables, variable } of moves) {
    const others = variables.filter((other) => other !== variable);
    for (const template of [deployed, next]) {
      const named = others.flatMap((other) => tablesInUse(template, other));
      for (const id of named) tables.delete(id);
    }
  }
  return moves;
}

/** The logical ids, or names, of the tables that functions find in a variable. */
function tablesInUse({ Resources }: Template, variable: string): string[] {
  const values = Object.values(Resources).flatMap(
    ({ Properties }) => Properties?.["Environment"]?.Variables?.[variable] ?? [],
  );
  return [...new Set(values.map((value): string => value.Ref ?? value))].sort();
}

function tableName(template: Template, table: string): string {
  return template.Resources[table]?.Properties?.["TableName"] ?? constructPath(template, table);
}

/**
 * Rewrites a template so that what means the same reads the same: references become text like
 * `${Orders1A2B.Arn}`, and so do account and region, whether it spells them out or not. Of a moved
 * table, all references read alike, because whatever refers to it moves along.
 */
export function comparable(template: Template, moves: TableMove[], place?: Place): Template {
  const values = new Map<string, string | undefined>([
    ["AWS::AccountId", place?.account],
    ["AWS::Region", place?.region],
  ]);
  const moveOf = (id: string) => moves.find(({ tables }) => tables.has(id));
  const text = (part: unknown) =>
    resolveIntrinsics(part, (id, attribute) => {
      const name = moveOf(id)?.variable ?? id;
      return attribute ? `\${${name}.${attribute}}` : (values.get(id) ?? `\${${name}}`);
    });
  return text(template) as Template;
}

/**
 * The path of a resource's construct in its stack, like `Api/BearerKeys`; its logical id where the
 * template does not say it.
 */
export function constructPath({ Resources }: Template, id: string): string {
  const path: string = Resources[id]?.["Metadata"]?.["aws:cdk:path"] ?? id;
  return path.replace(/^[^/]*\//, "").replace(/\/Resource$/, "");
}

/** A text that refers to resources, with the paths of their constructs instead. */
export function withPaths(text: string, template: Template): string {
  return text.replace(
    /\$\{(\w+)(\.?[\w.]*)\}/g,
    (_, id: string, attribute: string) => `${constructPath(template, id)}${attribute}`,
  );
}

/**
 * Finds what the next template takes from elsewhere, unlike the deployed one: it can change without
 * a deployment.
 */
export function elsewhere(deployed: Template, next: Template): string[] {
  const references = (template: Template) =>
    new Set(
      JSON.stringify(template).match(
        /\{\{resolve:[^}]*\}\}|"Fn::(?:ImportValue|Transform)":[^,}]*/g,
      ),
    );
  return [...references(next).difference(references(deployed))];
}
