import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { inject, vi } from "vitest";
import { readStack } from "../../infra/tools/local/template/synthesis.ts";

/** Waits for the staging stack, which `assembly.ts` synthesises for all test files. */
export async function readAssembly() {
  const { directory, failure } = inject("assembly");
  const requireOver = () => {
    if (!existsSync(directory) && !existsSync(failure))
      throw new Error("The stack has not been synthesised yet");
  };
  await vi.waitFor(requireOver, { timeout: 110_000 });
  if (existsSync(failure)) throw new Error(await readFile(failure, "utf8"));
  return await readStack(directory);
}
