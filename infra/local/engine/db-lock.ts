import { once } from "node:events";
import { readFile, realpath, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { z } from "zod";
import { CommandError } from "../../terminal/errors.ts";

const ownerSchema = z.object({ pid: z.int().positive(), stack: z.url() });

/**
 * Keeps a database file for one stack: two engines on one file would not see each other's writes.
 * The lock is a file beside it. The lock of a killed stack is taken over.
 *
 * @param origin where this stack listens already, for the error of a second one.
 * @returns a function that releases the lock.
 * @throws CommandError naming the stack that has it.
 */
export async function lockDb(dbFile: string, origin: string): Promise<() => Promise<void>> {
  // A link and its target are one file.
  const lock = `${await realpath(dbFile).catch(() => dbFile)}.lock`;
  const text = JSON.stringify({ pid: process.pid, stack: origin });
  const release = () => rm(lock, { force: true });
  try {
    await writeFile(lock, text, { flag: "wx", mode: 0o600 });
    return release;
  } catch (error) {
    // No lock can be written here: the engine, which can't write either, says so.
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) return release;
  }
  const owner = await readOwner(lock);
  if (owner && (await isInUse(owner, origin))) {
    throw new CommandError(
      `${dbFile} is in use by the stack at ${owner.stack}, process ${owner.pid} (says ${lock})`,
    );
  }
  await writeFile(lock, text);
  return release;
}

type Owner = z.infer<typeof ownerSchema>;

async function readOwner(lock: string): Promise<Owner | undefined> {
  try {
    return ownerSchema.parse(JSON.parse(await readFile(lock, "utf8")));
  } catch {
    return undefined;
  }
}

/**
 * Whether the stack that wrote the lock still runs. After a restart of the machine or a container,
 * its process id or its port may be another program's; hardly both. If its address is this stack's,
 * it has ended.
 */
async function isInUse({ pid, stack }: Owner, ownOrigin: string): Promise<boolean> {
  return stack !== ownOrigin && isRunning(pid) && (await isListening(stack));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Another user's process may not be signalled.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

async function isListening(origin: string): Promise<boolean> {
  const { hostname, port } = new URL(origin);
  // A URL leaves out port 80.
  const socket = connect(Number(port || 80), hostname);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
