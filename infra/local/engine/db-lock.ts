import { once } from "node:events";
import { readFile, realpath, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { z } from "zod";
import { StartError } from "../../template/start-error.ts";

const ownerSchema = z.object({ pid: z.int().positive(), stack: z.url() });

/**
 * Keeps a database file for one stack: two engines on one file would not see each other's writes.
 * The lock is a file beside it. The lock of a killed stack is taken over.
 *
 * @param stack the address where this stack listens already, for the message to a second one.
 * @returns releases the lock.
 * @throws StartError naming the stack that has it.
 */
export async function lockDb(dbFile: string, stack: string): Promise<() => Promise<void>> {
  // A link and its target are one file.
  const lock = `${await realpath(dbFile).catch(() => dbFile)}.lock`;
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
  if (owner && (await isInUse(owner, stack))) {
    throw new StartError(
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
 * Whether a stack still runs. Once the machine or a container has restarted, its process id or its
 * port may be another program's; hardly both. One that had this stack's own address has ended.
 */
async function isInUse({ pid, stack }: Owner, ownStack: string): Promise<boolean> {
  return stack !== ownStack && isRunning(pid) && (await isListening(stack));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Another user's process may not be signalled.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

async function isListening(stack: string): Promise<boolean> {
  const { hostname, port } = new URL(stack);
  const socket = connect(Number(port), hostname);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
