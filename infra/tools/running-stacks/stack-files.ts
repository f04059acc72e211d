import {
  accessSync,
  constants,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { CommandError } from "../terminal/errors.ts";

/** The content of a stack's file, which holds no API key. */
const stackSchema = z.object({
  /** In milliseconds since 1970. */
  startedAt: z.number(),
  baseUrl: z.string(),
  dynamodbEndpoint: z.string(),
  tables: z.object({ orders: z.string(), apiKeys: z.string() }),
});

export type RunningStack = z.infer<typeof stackSchema>;

/** The folder of the running stacks' files. Git ignores the checkout's own. */
const folder = () =>
  process.env["LOCAL_STACKS"] || join(import.meta.dirname, "../../../.local");

/** Makes the folder if it is missing. @throws CommandError when it can't be written. */
export function prepareStacksFolder(): void {
  try {
    mkdirSync(folder(), { recursive: true });
    accessSync(folder(), constants.W_OK);
  } catch (error) {
    throw cantWrite(folder(), error);
  }
}

function cantWrite(path: string, error: unknown) {
  const reason = error instanceof Error ? error.message : error;
  return new CommandError(
    `${path} can't be written: ${reason}. Set LOCAL_STACKS to another folder`,
  );
}

/**
 * Writes the file of a stack, named after its port, over that of an earlier one.
 *
 * @returns removes it again.
 * @throws CommandError when it can't be written.
 */
export function writeStackFile(stack: RunningStack): () => void {
  prepareStacksFolder();
  const file = join(folder(), `${new URL(stack.baseUrl).port}.json`);
  try {
    // In one step for those who read it.
    writeFileSync(`${file}.new`, JSON.stringify(stack), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch (error) {
    throw cantWrite(file, error);
  }
  return () => rmSync(file, { force: true });
}

/** The running stacks, the latest first. A malformed file names none. */
export function readStackFiles() {
  const stacks = globSync("*.json", { cwd: folder() }).flatMap((name) => {
    try {
      return stackSchema.parse(JSON.parse(readFileSync(join(folder(), name), "utf8")));
    } catch {
      return [];
    }
  });
  return stacks.sort((a, b) => b.startedAt - a.startedAt);
}
