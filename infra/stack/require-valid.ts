import { inspect } from "node:util";
import type { z } from "zod";
import { CommandError } from "../terminal/errors.ts";
import type { ServiceTable } from "./function-list.ts";
import { type Environment, environmentsSchema } from "./settings.ts";
import { ownTables } from "./tables.ts";

/**
 * Checks the settings of all environments.
 *
 * @throws CommandError with a line for each mistake.
 */
export function requireValid(environments: Record<string, Environment>): void {
  const { error } = environmentsSchema.safeParse(environments, {
    reportInput: true,
    // A group of settings has no text of its own; that of a key is in the issue about the key.
    error: (issue) => (issue.code === "invalid_key" ? issue.issues[0]?.message : "an object"),
  });
  const lines = error
    ? error.issues.map(explain)
    : Object.entries(environments).flatMap(([key, settings]) =>
        wrongTables(settings).map((line) => `environments.${key}.${line}`),
      );
  if (lines.length > 0) throw new CommandError(lines.join("\n"));
}

/** A line about a mistake. The schema's text says what the setting must be. */
function explain(issue: z.core.$ZodIssue): string {
  const setting = ["environments", ...issue.path].join(".");
  if (issue.code === "unrecognized_keys")
    return `${setting} has no setting ${issue.keys.join(" or ")}`;
  if (issue.input === undefined) return `${setting} is missing: it must be ${issue.message}`;
  return `${setting} must be ${issue.message}, not ${inspect(issue.input, { breakLength: Infinity })}`;
}

function wrongTables(settings: Environment): string[] {
  const { formerTables, keepData, restoredTables, stackName } = settings;
  const named = Object.entries({ restoredTables, formerTables }).flatMap(([setting, tables = {}]) =>
    Object.entries(tables).map(([table, name]) => ({ setting, table, name })),
  );
  const lines: string[] = [];
  if (new Set(named.map(({ name }) => name)).size < named.length)
    lines.push("restoredTables and formerTables name one table twice");
  if (named.length > 0 && keepData === false)
    lines.push("restoredTables and formerTables need keepData");
  for (const { setting, table, name } of named) {
    const start = `${stackName}-${ownTables[table as ServiceTable].id}`;
    if (!name.startsWith(start))
      lines.push(`${setting}.${table} must begin with ${start}, as policies do, not ${name}`);
  }
  return lines;
}
