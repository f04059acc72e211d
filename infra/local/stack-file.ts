import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { LocalStack } from "./local-stack.ts";
import { StartError } from "./start-error.ts";

/** Where a running local stack is to be found; no key. */
export type StackFile = Pick<LocalStack, "baseUrl" | "dynamodbEndpoint" | "tables">;

/** One for each checkout, ignored by git; LOCAL_STACK_FILE is for those who run several stacks in one. */
const stackFile = process.env["LOCAL_STACK_FILE"] || fileURLToPath(new URL("../../.local/stack.json", import.meta.url));

/**
 * Leaves the file that says where this stack is.
 *
 * @returns what removes it at the stack's end, unless a stack that started later has put its own there.
 * @throws StartError when it can't be written.
 */
export async function leaveStackFile({ baseUrl, dynamodbEndpoint, tables }: StackFile): Promise<() => Promise<void>> {
  const text = `${JSON.stringify({ baseUrl, dynamodbEndpoint, tables }, null, 2)}\n`;
  const partial = `${stackFile}.${process.pid}`;
  try {
    await mkdir(dirname(stackFile), { recursive: true });
    await writeFile(partial, text);
    await rename(partial, stackFile);
  } catch (error) {
    throw new StartError(`${stackFile} can't be written: ${error instanceof Error ? error.message : error}`);
  }
  return async () => {
    const current = await readFile(stackFile, "utf8").catch(() => undefined);
    if (current === text) await rm(stackFile, { force: true });
  };
}

/** What the running stack left, or undefined when there is no file, or none of ours. */
export async function readStackFile(): Promise<StackFile | undefined> {
  const text = await readFile(stackFile, "utf8").catch(() => "null");
  try {
    const found: unknown = JSON.parse(text);
    return isStackFile(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

function isStackFile(found: unknown): found is StackFile {
  if (!isRecord(found) || !isRecord(found["tables"])) return false;
  const { orders, apiKeys } = found["tables"];
  return [found["baseUrl"], found["dynamodbEndpoint"], orders, apiKeys].every((value) => typeof value === "string");
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
