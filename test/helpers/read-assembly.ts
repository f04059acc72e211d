import { access } from "node:fs/promises";
import { inject, vi } from "vitest";
import { readStack } from "../../infra/template/synthesis.ts";

/** The staging stack, which `assembly.ts` synthesises for all test files. Waits for it. */
export async function readAssembly() {
  const directory = inject("assembly");
  await vi.waitFor(() => access(directory), { timeout: 60_000 });
  return await readStack(directory);
}
