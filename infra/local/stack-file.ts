import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { StartError } from "./machine/start-error.ts";

const stackFileSchema = z.object({
  baseUrl: z.string(),
  dynamodbEndpoint: z.string(),
  tables: z.object({ orders: z.string(), apiKeys: z.string() }),
});

/** Where a running local stack is. The file holds no key. */
export type StackFile = z.infer<typeof stackFileSchema>;

/** One per checkout, ignored by git. To run several stacks in one checkout, name another with LOCAL_STACK_FILE. */
const stackFile = process.env["LOCAL_STACK_FILE"] || fileURLToPath(new URL("../../.local/stack.json", import.meta.url));

/**
 * Writes the file that says where this stack is.
 *
 * @returns a function that removes the file, unless a stack that started later has overwritten it.
 * @throws StartError when it can't be written.
 */
export async function writeStackFile({ baseUrl, dynamodbEndpoint, tables }: StackFile): Promise<() => Promise<void>> {
  const text = `${JSON.stringify({ baseUrl, dynamodbEndpoint, tables }, null, 2)}\n`;
  try {
    await mkdir(dirname(stackFile), { recursive: true });
    await writeFile(stackFile, text);
  } catch (error) {
    throw new StartError(`${stackFile} can't be written: ${error instanceof Error ? error.message : error}`);
  }
  return async () => {
    const current = await readFile(stackFile, "utf8").catch(() => undefined);
    if (current === text) await rm(stackFile, { force: true });
  };
}

/** Where the running stack is, or undefined when there is no file or it is malformed. */
export async function readStackFile(): Promise<StackFile | undefined> {
  const text = await readFile(stackFile, "utf8").catch(() => "null");
  try {
    return stackFileSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
