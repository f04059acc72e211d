import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { environments } from "../../../environments.ts";
import { CommandError } from "../../terminal/errors.ts";
import { readStackTemplate } from "./stack-template.ts";

/** A template, and the directory it was synthesised into, which holds its assets. */
export type SynthesisedStack = Awaited<ReturnType<typeof readStack>>;

/**
 * Synthesises the staging stack into a directory.
 *
 * @param sourceMaps whether the bundles get source maps; those that are deployed have none.
 * @throws CommandError with what CDK or esbuild said; the signal's reason when that aborts.
 */
export async function synthesiseStaging(
  directory: string,
  signal: AbortSignal,
  sourceMaps = false,
): Promise<SynthesisedStack> {
  const script = join(import.meta.dirname, "synth-process.ts");
  // CDK's own variables are another app's.
  const inherited = Object.entries(process.env).filter(([name]) => !/^CDK/.test(name));
  const env = {
    ...Object.fromEntries(inherited),
    CDK_OUTDIR: directory,
    CDK_CONTEXT_JSON: JSON.stringify({ sourceMaps }),
  };
  const reporter = join(import.meta.dirname, "../../terminal/report-errors.ts");
  const args = ["--import", reporter, script];
  await promisify(execFile)(process.execPath, args, { signal, env }).catch(
    ({ stderr }: { stderr: string }) => {
      signal.throwIfAborted();
      // What is wrong: esbuild's errors or, without any, the line.
      const [complaint] = /^✘ .*\n(?:(?:[ ✘].*)?\n)*/m.exec(stderr) ?? [stderr];
      const what = /no space left/.test(stderr)
        ? `no space left in ${directory}. Set TMPDIR to a folder with 10 MB`
        : complaint.trim();
      throw new CommandError(`The stack can't be synthesised: ${what}`);
    },
  );
  return readStack(directory);
}

/** Reads the staging stack from the directory it was synthesised into. */
export async function readStack(directory: string) {
  const file = join(directory, `${environments.staging.stackName}.template.json`);
  return {
    template: readStackTemplate(JSON.parse(await readFile(file, "utf8"))),
    directory,
  };
}
