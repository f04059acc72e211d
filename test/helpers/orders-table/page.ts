import { spawn } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll } from "vitest";
import { environments } from "../../../infra/environments.ts";
import { root } from "../admin/admin-command.ts";
import type { TestTables } from "../admin/test-tables.ts";

/** The page about the orders table. */
export const page = await readFile(join(root, "shared/ORDERS-TABLE.md"), "utf8");

/** The code blocks of a language under a heading. */
export function examples(heading: string, language: "sh" | "ts" | "json"): string[] {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  return [...section.matchAll(/```(\w+)\n(.*?)```/gs)].flatMap(([, tag, code = ""]) =>
    tag === language ? [code] : [],
  );
}

/** The only example of a language under a heading. */
export function example(heading: string, language: "sh" | "ts" | "json"): string {
  const [code, ...others] = examples(heading, language);
  if (code === undefined || others.length > 0) throw new Error(`Not one ${language} block under ${heading}`);
  return code;
}

/**
 * Creates a folder until the calling test file ends. The page's code finds the project's packages there, and its commands
 * our stand-in for the AWS CLI.
 */
export async function createPageFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "orders-table-"));
  afterAll(() => rm(folder, { recursive: true }));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  await writeFile(
    join(folder, "aws"),
    `#!/bin/sh\nexec "${process.execPath}" "${root}/test/helpers/orders-table/aws.ts" "$@"\n`,
  );
  await chmod(join(folder, "aws"), 0o755);
  return folder;
}

/** Runs commands of the page in one shell, after those that find the table; the exit code is the last one's. */
export async function runCommands(
  folder: string,
  { dynamodbEndpoint, tables }: Pick<TestTables, "dynamodbEndpoint" | "tables">,
  commands: string[],
): Promise<{ code: number | null; stderr: string }> {
  const script = [example("Find the table", "sh"), ...commands].join("\n");
  const child = spawn("bash", ["-uc", script], {
    env: {
      PATH: `${folder}:${process.env["PATH"]}`,
      HOME: folder,
      AWS_REGION: "eu-central-1",
      AWS_ACCESS_KEY_ID: "test",
      AWS_SECRET_ACCESS_KEY: "test",
      AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint,
      STACK_OUTPUTS: JSON.stringify({ [environments.production.stackName]: { OrdersTableName: tables.orders } }),
    },
    stdio: ["ignore", "inherit", "pipe"],
  });
  const ended = new Promise<number | null>((resolve, reject) => child.on("error", reject).on("exit", resolve));
  const [code, stderr] = await Promise.all([ended, text(child.stderr)]);
  return { code, stderr };
}
