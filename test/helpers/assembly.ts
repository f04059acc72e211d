import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { synthesise } from "../../infra/template/synthesis.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The directory of the synthesised staging stack. */
    assembly: string;
  }
}

/** Synthesises the stack once for all test files; it takes longer than everything else that a local stack starts. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-test-"));
  await synthesise(directory, new AbortController().signal);
  project.provide("assembly", directory);
  return () => rm(directory, { recursive: true, force: true });
}
