import { createWriteStream } from "node:fs";
import { chmod, realpath, rename, rm, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileError } from "../terminal/errors.ts";
import type { Session } from "./command.ts";

/**
 * Writes lines to a file, device or pipe that the command line names. A file is replaced, keeping
 * its mode, once all lines are written to another one beside it. With a device or pipe, a signal
 * ends the process, even while no one reads the pipe.
 *
 * @throws CommandError when it can't be written, AbortError when a signal interrupts the writing of
 * a file, and whatever `lines` throws.
 */
export async function writeLines(
  session: Session,
  name: string,
  lines: () => AsyncIterable<string>,
) {
  const path = await realpath(name).catch(() => resolve(name));
  const existing = await stat(path).catch(() => undefined);
  const partial = `${path}.${process.pid}.partial`;
  try {
    if (existing?.isFile() === false)
      return await pipeline(lines, createWriteStream(path));
    const signal = session.interruptible();
    const mode = existing?.mode ?? 0o666;
    await pipeline(lines, createWriteStream(partial, { flags: "wx", mode }), { signal });
    // The umask may have removed some permissions.
    if (existing) await chmod(partial, mode);
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw fileError(name, error);
  }
}
