import { readFile, rm, writeFile } from "node:fs/promises";
import { z } from "zod";
import { StartError } from "../../template/start-error.ts";

const ownerSchema = z.object({ pid: z.int().positive(), stack: z.string() });

/**
 * Keeps a database file for one stack: two engines on one file would not see each other's writes.
 * The lock is a file beside it. That of a stack which was killed is taken over.
 *
 * @param stack the address of this stack, for whoever comes second.
 * @returns what gives the file free.
 * @throws StartError naming the stack that has it.
 */
export async function lockDb(dbFile: string, stack: string): Promise<() => Promise<void>> {
  const lock = `${dbFile}.lock`;
  const text = JSON.stringify({ pid: process.pid, stack });
  const release = () => rm(lock, { force: true });
  try {
    await writeFile(lock, text, { flag: "wx", mode: 0o600 });
    return release;
  } catch (error) {
    // Where no file can be written, the engine says so.
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) return release;
  }
  const owner = await readOwner(lock);
  if (owner && isRunning(owner.pid)) {
    throw new StartError(
      `${dbFile} is in use by the stack at ${owner.stack}, process ${owner.pid}`,
    );
  }
  await writeFile(lock, text);
  return release;
}

async function readOwner(lock: string) {
  try {
    return ownerSchema.parse(JSON.parse(await readFile(lock, "utf8")));
  } catch {
    return undefined;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Another user's process may not be signalled.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
