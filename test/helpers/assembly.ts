import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { synthesise } from "../../infra/template/synthesis.ts";
import { reportLeftOut } from "./engine-files.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The directory of the synthesised staging stack, once `readAssembly` has found it. */
    assembly: string;
  }
}

/**
 * Synthesises the stack once for all test files, while those that don't need it already run. All that the tests put into
 * the folder for temporary files is deleted at the end, templates that CDK writes included.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  reportLeftOut();
  const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-test-"));
  const assembly = join(directory, "assembly");
  // For the test files' processes, which start later.
  process.env["TMPDIR"] = directory;
  // These processes, and the commands that they start, compile the same modules.
  process.env["NODE_COMPILE_CACHE"] = join(directory, "compiled");
  project.provide("assembly", assembly);
  const ended = new AbortController();
  const synthesised = synthesise(`${assembly}.unfinished`, { signal: ended.signal }).then(
    () => rename(`${assembly}.unfinished`, assembly),
    (error) => {
      if (ended.signal.aborted) return;
      console.error(error.message);
      process.exit(1);
    },
  );
  return async () => {
    ended.abort();
    await synthesised;
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  };
}
