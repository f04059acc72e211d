import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { CommandError } from "../terminal/errors.ts";
import { lockFile } from "./machine/file-lock.ts";

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
  process.env["LOCAL_STACK_FILE"] || join(import.meta.dirname, "../../.local/stack.json");

/**
 * Adds a stack to the file, in place of any at the same address.
 *
 * @returns removes it again.
 * @throws CommandError when the file can't be written.
 */
export function addToStackFile(stack: StackFile[number]): () => void {
  const file = stackFile();
  const replaceBy = (stacks: StackFile) => {
    mkdirSync(dirname(file), { recursive: true });
    // Other stacks start and end at the same time.
    const release = lockFile(file, 10_000);
    try {
      const others = readStackFile().filter(({ baseUrl }) => baseUrl !== stack.baseUrl);
      const text = `${JSON.stringify([...stacks, ...others], null, 2)}\n`;
      writeFileSync(`${file}.new`, text, { mode: 0o600 });
      renameSync(`${file}.new`, file);
    } finally {
      release?.();
    }
  };
  try {
    replaceBy([stack]);
  } catch (error) {
    const { message } = Object(error);
    throw new CommandError(
      `${file} can't be written: ${message}. Set LOCAL_STACK_FILE to another`,
    );
  }
  return () => {
    try {
      replaceBy([]);
    } catch {
      // Why the stack ends matters more. Readers find that nothing listens.
    }
  };
}

/** The running stacks; none when there is no file or it is malformed. */
export function readStackFile(): StackFile {
  try {
    return stackSchema.array().parse(JSON.parse(readFileSync(stackFile(), "utf8")));
  } catch {
    return [];
  }
}
