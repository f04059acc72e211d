import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readStack, type SynthesisedStack, synthesise } from "../template/synthesis.ts";

/** A synthesised stack; disposing it removes its files. */
export interface Build extends SynthesisedStack, AsyncDisposable {}

/**
 * Synthesises the staging stack into a directory of its own.
 *
 * @param assembly a directory that it is in already, used as it is.
 */
export async function build(signal: AbortSignal, assembly?: string): Promise<Build> {
  if (assembly !== undefined) return { ...(await readStack(assembly)), [Symbol.asyncDispose]: async () => {} };
  const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-"));
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
  try {
    await synthesise(directory, signal);
    return { ...(await readStack(directory)), [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
