import { mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { synthesiseStaging } from "../../infra/tools/local/template/synthesis.ts";
import { reportUntestedFiles } from "./engine-files.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The directory of the staging stack, and the file that says why there is none. */
    assembly: { directory: string; failure: string };
  }
}

const compiled = fileURLToPath(new URL("../../.local/compiled", import.meta.url));

/**
 * Synthesises the stack for all test files, while those that don't need it already run. Their
 * temporary folder is deleted at the end.
 */
export default async function setup(project: TestProject) {
  reportUntestedFiles();
  const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-test-"));
  const assembly = {
    directory: join(directory, "assembly"),
    failure: join(directory, "failure"),
  };
  // For the test files' processes, which start later.
  process.env["TMPDIR"] = directory;
  // Numbers and times look otherwise there, but not what a command prints or reads.
  Object.assign(process.env, { LANG: "de_DE.UTF-8", TZ: "Asia/Kathmandu" });
  // These processes, their commands and the next run compile the same modules.
  process.env["NODE_COMPILE_CACHE"] = compiled;
  project.provide("assembly", assembly);
  const unfinished = join(directory, "unfinished");
  const synthesised = synthesiseStaging(unfinished, new AbortController().signal)
    .then(() => rename(unfinished, assembly.directory))
    .catch((error) => writeFile(assembly.failure, `${error}`));
  return async () => {
    await synthesised;
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    // vitest imports test files by a new name in each run, so it would grow for ever.
    const { length } = await readdir(compiled, { recursive: true }).catch(() => []);
    if (length > 20_000)
      await rm(compiled, { recursive: true, force: true }).catch(() => {});
  };
}
