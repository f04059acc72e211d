import { inspect } from "node:util";
import type { z } from "zod";
import { CommandError } from "../terminal/errors.ts";
import type { ServiceTable } from "./function-list.ts";
import { type Environment, environmentSchema } from "./settings.ts";
import { ownTables } from "./tables.ts";

/**
 * Checks the settings of all environments.
 *
 * @throws CommandError with a line for each mistake.
 */
export function requireValid(environments: Record<string, Environment>): void {
  const lines = Object.entries(environments).flatMap(([key, environment]) =>
    mistakes(environment).map((line) => `environments.${key}: ${line}`),
  );
  lines.push(...conflicts(environments));
  if (lines.length > 0) throw new CommandError(lines.join("\n"));
}

/** A line for each setting that must be an environment's own, and isn't. */
function conflicts(environments: Record<string, Environment>): string[] {
  const entries = Object.entries(environments);
  const lines = entries
    .filter(([key, { name }]) => name !== key)
    .map(([key, { name }]) => `environments.${key}: its name must be "${key}", not "${name}"`);
  for (const setting of ["stackName", "apiKeyPrefix"] as const) {
    const byValue = Map.groupBy(entries, ([, environment]) => environment[setting]);
    for (const [value, sharing] of byValue) {
      const keys = sharing.map(([key]) => key).join(" and ");
      if (sharing.length > 1) lines.push(`environments: ${keys} have one ${setting}, ${value}`);
    }
  }
  return lines;
}

function mistakes(environment: Environment): string[] {
  const { error } = environmentSchema.safeParse(environment, {
    reportInput: true,
    // Only for a group of settings: each setting has a text of its own.
    error: () => "an object",
  });
  const issues = error?.issues ?? [];
  const wrong = new Set(issues.map(({ path }) => path[0]));
  const sound = Object.entries(environment).filter(([setting]) => !wrong.has(setting));
  return [...issues.flatMap(explain), ...contradictions(Object.fromEntries(sound))];
}

/** A line for each mistake in one setting. The schema's text says what it must be. */
function explain(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.join(".");
  if (issue.code === "invalid_key") {
    const name = `a key of ${issue.path.slice(0, -1).join(".")}`;
    return issue.issues.map(({ message }) => mustBe(name, message, issue.input));
  }
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => `there is no setting ${[...issue.path, key].join(".")}`);
  if (issue.input === undefined) return [`${path} is missing: it must be ${issue.message}`];
  return [mustBe(path, issue.message, issue.input)];
}

function mustBe(setting: string, text: string, value: unknown): string {
  return `${setting} must be ${text}, not ${inspect(value, { breakLength: Infinity })}`;
}

/** A line for each setting that can't be right beside another one. */
function contradictions(settings: Partial<Environment>): string[] {
  const { alarms } = settings;
  const lines: string[] = [];
  if (alarms?.canary && alarms.functionFailures.percent >= 10) {
    const { percent } = alarms.functionFailures;
    lines.push(`alarms.functionFailures.percent must be less than a canary's 10 %, not ${percent}`);
  }
  return [...lines, ...wrongRegions(settings), ...wrongTables(settings)];
}

function wrongRegions({ account, alarms, domain, webAclArn }: Partial<Environment>): string[] {
  if (!account) return [];
  const arns = {
    webAclArn,
    "alarms.topicArn": alarms?.topicArn,
    "domain.certificateArn": domain?.certificateArn,
  };
  return Object.entries(arns)
    .filter(([, arn]) => arn !== undefined && arn.split(":")[3] !== account.region)
    .map(([setting, arn]) => `${setting} must be in the stack's ${account.region}, not ${arn}`);
}

function wrongTables(settings: Partial<Environment>): string[] {
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
    if (stackName !== undefined && !name.startsWith(start))
      lines.push(`${setting}.${table} must begin with ${start}, as policies do, not ${name}`);
  }
  return lines;
}
