import { inspect } from "node:util";
import type { z } from "zod";
import { type Environment, environmentsSchema } from "./settings.ts";

/** A line for each mistake in the settings of all environments; undefined without any. */
export function mistakesIn(environments: Record<string, Environment>): string | undefined {
  const { error } = environmentsSchema.safeParse(environments, {
    reportInput: true,
    // A group of settings has no text of its own; that of a key is in the issue about the key.
    error: (issue) =>
      issue.code === "invalid_key" ? issue.issues[0]?.message : "an object",
  });
  return error?.issues.map(explain).join("\n");
}

/** A line about a mistake. The schema's text says what the setting must be. */
function explain(issue: z.core.$ZodIssue): string {
  const setting = ["environments", ...issue.path].join(".");
  if (issue.code === "unrecognized_keys") {
    const names = issue.keys.join(" or ");
    // Without it, the functions would return to the stack's own tables as they were left.
    const hadRestoredTables = /\b(restored|former)Tables\b/.test(names);
    const remedy =
      ": first fill the stack's own tables (infra/CHANGELOG.md, Restored tables)";
    return `${setting} has no setting ${names}${hadRestoredTables ? remedy : ""}`;
  }
  if (issue.input === undefined)
    return `${setting} is missing: it must be ${issue.message}`;
  return `${setting} must be ${issue.message}, not ${inspect(issue.input, { breakLength: Infinity })}`;
}
