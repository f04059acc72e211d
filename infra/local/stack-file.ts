import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { CommandError } from "../terminal/errors.ts";

const stackSchema = z.object({
  baseUrl: z.string(),
  dynamodbEndpoint: z.string(),
  /** Requests to the endpoint are signed with it. */
  accessKeyId: z.string(),
  tables: z.object({ orders: z.string(), apiKeys: z.string() }),
});

/** The running local stacks, the latest first. It holds no API key. */
type StackFile = z.infer<typeof stackSchema>[];

/** One per checkout, ignored by git. LOCAL_STACK_FILE names another. */
const stackFile = () =>
  process.env["LOCAL_STACK_FILE"] ||
  fileURLToPath(new URL("../../.local/stack.json", import.meta.url));

/**
 * Adds a stack to the file.
 *
 * @returns removes it again.
 * @throws CommandError when the file can't be written.
 */
export async function addToStackFile(stack: StackFile[number]): Promise<() => Promise<void>> {
  const write = async (added: StackFile): Promise<void> => {
    const others = (await readStackFile()).filter(({ baseUrl }) => baseUrl !== stack.baseUrl);
    const text = `${JSON.stringify([...added, ...others], null, 2)}\n`;
    await writeFile(stackFile(), text, { mode: 0o600 });
  };
  try {
    await mkdir(dirname(stackFile()), { recursive: true });
    await write([stackSchema.parse(stack)]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new CommandError(`${stackFile()} can't be written: ${reason}`);
  }
  // Without the folder there is nothing to remove.
  return () => write([]).catch(() => {});
}

/** The running stacks; none when there is no file or it is malformed. */
export async function readStackFile(): Promise<StackFile> {
  try {
    return stackSchema.array().parse(JSON.parse(await readFile(stackFile(), "utf8")));
  } catch {
    return [];
  }
}
