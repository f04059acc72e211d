import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CommandError } from "../../terminal/errors.ts";

/**
 * Keeps a database for one stack: two engines on one file would not see each other's writes. The
 * lock is SQLite's own, on an empty file beside it, and ends with this process at the latest. The
 * file stays: of two stacks, one could lock it just before it is removed, the other its successor.
 *
 * @returns a function that releases it.
 * @throws CommandError when another stack has it, or it can't be locked.
 */
export async function lockDatabase(file: string): Promise<() => void> {
  // A link and its target, which may not exist yet, are one file.
  const folder = await realpath(dirname(file));
  const target = await realpath(file).catch(() => join(folder, basename(file)));
  try {
    const lock = new DatabaseSync(`${target}-lock`);
    lock.exec("BEGIN EXCLUSIVE");
    return () => lock.close();
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    throw new CommandError(
      reason.includes("locked")
        ? `${file} is in use by another stack. Stop that, or choose another file`
        : `${target}-lock can't be written: ${reason}`,
    );
  }
}
