import { createWriteStream } from "node:fs";
import { chmod, lstat, open, realpath, rename, rm, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { CommandError, fileError } from "../terminal/errors.ts";
import type { Session } from "./session.ts";

/**
 * Writes lines to a file, device or pipe that the command line names. A file is replaced, keeping
 * its mode, once all lines are written to another one beside it and flushed to the disk. With a
 * device or pipe, a signal ends the process, even while no one reads the pipe.
 *
 * @throws CommandError when it can't be written, or is a link that leads nowhere; AbortError when a
 * signal interrupts the writing of a file, and whatever `lines` throws.
 */
export async function writeLines(
  session: Session,
  name: string,
  lines: () => AsyncIterable<string>,
) {
  try {
    const path = await targetOf(name);
    const existing = await stat(path).catch(() => undefined);
    if (existing?.isFile() === false) await pipeline(lines, createWriteStream(path));
    else await replaceFile(session, path, existing?.mode, lines);
  } catch (error) {
    throw fileError(name, error);
  }
}

/** The path of a file that may not exist yet, behind all links. */
async function targetOf(name: string) {
  return await realpath(name).catch(async () => {
    const path = resolve(name);
    const existing = await lstat(path).catch(() => undefined);
    // Instead of its target, the link itself would be replaced.
    if (existing?.isSymbolicLink())
      throw new CommandError(`${name} is a link that leads nowhere`);
    return path;
  });
}

async function replaceFile(
  session: Session,
  path: string,
  mode: number | undefined,
  lines: () => AsyncIterable<string>,
) {
  const signal = session.interruptible();
  const partial = `${path}.${crypto.randomUUID()}.partial`;
  // `wx` opens only a new file, so no one else's is removed below.
  const file = await open(partial, "wx", mode);
  try {
    await pipeline(lines, file.createWriteStream({ flush: true }), { signal });
    // The umask may have removed some permissions.
    if (mode !== undefined) await chmod(partial, mode);
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
