import { CfnGlobalTable, CfnTable } from "aws-cdk-lib/aws-dynamodb";
import { Annotations, CfnDeletionPolicy, type Stack } from "aws-cdk-lib/core";
import type { Environment } from "../environments.ts";

/**
 * Makes synthesis fail for a table that isn't protected, and warn of what is better set.
 *
 * @throws Error with a line for each setting whose value can't be right.
 */
export function addRules(stack: Stack, environment: Environment): void {
  const { alarms, keepData, listConcurrency } = environment;
  stopFor(mistakes(environment));
  if (keepData) stack.node.addValidation({ validate: () => unprotected(stack) });
  const warn = (id: string, text: string) =>
    Annotations.of(stack).addWarningV2(`pet-store-orders:${id}`, text);
  if (keepData && listConcurrency === undefined) {
    warn(
      "listConcurrency",
      "Slow readers of lists can use up the account's concurrency: set listConcurrency",
    );
  }
  if (alarms && alarms.email === undefined && alarms.topicArn === undefined) {
    warn("alarms", "The alarms notify no one: set alarms.email or alarms.topicArn");
  }
}

/** Checks what no two environments may share. @throws Error with a line for each mistake. */
export function requireDistinct(environments: Record<string, Environment>): void {
  const entries = Object.entries(environments);
  const misnamed = entries.filter(([key, { name }]) => name !== key);
  const lines = misnamed.map(
    ([key, { name }]) => `environments.${key}: its name must be "${key}", not "${name}"`,
  );
  for (const setting of ["stackName", "apiKeyPrefix"] as const) {
    for (const [value, sharing] of Map.groupBy(
      entries,
      ([, environment]) => environment[setting],
    )) {
      const keys = sharing.map(([key]) => key).join(" and ");
      if (sharing.length > 1) lines.push(`environments: ${keys} have one ${setting}, ${value}`);
    }
  }
  stopFor(lines);
}

function stopFor(lines: string[]): void {
  if (lines.length > 0) throw new Error(lines.join("\n"));
}

function mistakes(environment: Environment): string[] {
  const { alarms, apiKeyPrefix, formerTables, functionLogLevel, keepData, name, restoredTables } =
    environment;
  const { listConcurrency = 1, tableThroughput, throttling, writerAccounts = [] } = environment;
  const lines = limits({ listConcurrency, tableThroughput, throttling })
    .filter(([, value]) => !(Number(value) > 0))
    .map(([setting, value]) => `${setting} must be more than 0, not ${value}`);
  if (!/^pets_[0-9a-z]+$/.test(apiKeyPrefix)) {
    lines.push(
      `apiKeyPrefix must be pets_ and then digits or small letters, not "${apiKeyPrefix}"`,
    );
  }
  if (!["DEBUG", "INFO"].includes(functionLogLevel)) {
    lines.push(
      `functionLogLevel must be DEBUG or INFO, not ${functionLogLevel}: metrics are counted from INFO lines`,
    );
  }
  if (alarms?.canary) {
    const { percent } = alarms.functionFailures;
    const rule =
      "alarms.functionFailures.percent must be more than 0 and less than a canary's 10 %";
    if (!(percent > 0 && percent < 10)) lines.push(`${rule}, not ${percent}`);
  }
  const names = [restoredTables, formerTables].flatMap((tables) => Object.values(tables ?? {}));
  if (new Set(names).size < names.length)
    lines.push("restoredTables and formerTables name one table twice");
  if (names.length > 0 && !keepData) lines.push("restoredTables and formerTables need keepData");
  for (const name of names)
    if (!/^[\w.-]{3,255}$/.test(name)) lines.push(`no table can be called "${name}"`);
  for (const id of writerAccounts) {
    if (!/^\d{12}$/.test(id))
      lines.push(`writerAccounts: an account id has 12 digits, not "${id}"`);
  }
  return lines.map((line) => `environments.${name}: ${line}`);
}

/** Every value in settings, whatever its type, by its path. */
function limits(settings: object, path = ""): [path: string, unknown][] {
  return Object.entries(settings).flatMap(([name, value]) =>
    value instanceof Object ? limits(value, `${path}${name}.`) : [[path + name, value]],
  );
}

/**
 * The tables that could be deleted with the stack, or couldn't be restored: those of the deploying
 * team's own, too.
 */
function unprotected(stack: Stack): string[] {
  const lines = stack.terminationProtection ? [] : ["keepData needs terminationProtection"];
  for (const table of stack.node.findAll()) {
    if (!(table instanceof CfnTable || table instanceof CfnGlobalTable)) continue;
    const { deletionPolicy, updateReplacePolicy } = table.cfnOptions;
    const retained = [deletionPolicy, updateReplacePolicy].every(
      (policy) => policy === CfnDeletionPolicy.RETAIN,
    );
    const replicas: TableProtection[] =
      table instanceof CfnTable ? [table] : stack.resolve(table.replicas);
    const kept = replicas.every(
      ({ deletionProtectionEnabled, pointInTimeRecoverySpecification: recovery }) =>
        deletionProtectionEnabled === true &&
        stack.resolve(recovery)?.pointInTimeRecoveryEnabled === true,
    );
    if (!retained || !kept) {
      lines.push(
        `keepData: ${table.node.path} needs removal policy RETAIN, deletion protection and point-in-time recovery`,
      );
    }
  }
  return lines;
}

type TableProtection = Pick<
  CfnTable,
  "deletionProtectionEnabled" | "pointInTimeRecoverySpecification"
>;
