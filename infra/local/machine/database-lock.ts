import { appendFile, realpath } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { CommandError } from "../../terminal/errors.ts";

/**
 * Keeps a database for one stack: two engines on one file would not see each other's writes. The
 * lock is SQLite's own, on an empty file beside it, which stays; the lock ends with this process at
 * the latest. If there is no database yet, an empty file becomes one.
 *
 * @returns the lock, which is released when it is disposed of.
 * @throws CommandError when another stack has it, or it can't be locked; what the file system
 * throws when the database itself can't be written.
 */
export async function lockDatabase(file: string): Promise<DatabaseSync> {
  await appendFile(file, "", { mode: 0o600 });
  // A link and its target are one file.
  const target = await realpath(file);
  try {
    const lock = new DatabaseSync(`${target}-lock`);
    lock.exec("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    const { message } = Object(error);
    throw new CommandError(
      message.includes("locked")
        ? `${file} is in use by another stack. Stop that, or choose another file`
        : `${target}-lock can't be written: ${message}`,
    );
  }
}
