import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CommandError } from "../../terminal/errors.ts";

/**
 * Keeps a file for this process. The lock is SQLite's own, on an empty file beside it, which stays;
 * the lock ends with this process at the latest.
 *
 * @param waitMs how long to wait for another process.
 * @returns a function that releases the lock; undefined when another process has it.
 * @throws CommandError when the file beside it can't be written.
 */
export function lockFile(file: string, waitMs = 0): (() => void) | undefined {
  try {
    const lock = new DatabaseSync(`${file}-lock`, { timeout: waitMs });
    lock.exec("BEGIN EXCLUSIVE");
    return () => lock.close();
  } catch (error) {
    const { message } = Object(error);
    if (message.includes("locked")) return undefined;
    throw new CommandError(`${file}-lock can't be written: ${message}`);
  }
}

/**
 * Keeps a database for one stack: two engines on one file would not see each other's writes.
 *
 * @returns a function that releases it.
 * @throws CommandError when another stack has it, or it can't be locked.
 */
export async function lockDatabase(file: string): Promise<() => void> {
  // A link and its target, which may not exist yet, are one file.
  const folder = await realpath(dirname(file));
  const release = lockFile(
    await realpath(file).catch(() => join(folder, basename(file))),
  );
  if (release !== undefined) return release;
  throw new CommandError(
    `${file} is in use by another stack. Stop that, or choose another file`,
  );
}
