import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { z } from "zod";
import { environments } from "../../environments.ts";
import { StartError } from "../start-error.ts";
import { checked } from "./checked.ts";
import { Template } from "./template.ts";

/** A template and where the assets are that it names by their S3 keys. */
export interface SynthesisedStack {
  template: Template;
  assetDirectory: (objectKey: string) => string;
}

const { stackName } = environments.staging;

const assetsSchema = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.object({ path: z.string() }),
      destinations: z.record(z.string(), z.object({ objectKey: z.string() })),
    }),
  ),
});

/**
 * Synthesises the staging stack into a directory.
 *
 * @throws StartError with what CDK or esbuild said; the signal's reason when that aborts.
 */
export async function synthesise(directory: string, signal: AbortSignal): Promise<void> {
  const script = fileURLToPath(new URL("synth.ts", import.meta.url));
  try {
    await promisify(execFile)(process.execPath, [script, directory], { signal });
  } catch (error) {
    signal.throwIfAborted();
    const output = error instanceof Error && "stderr" in error ? String(error.stderr) : String(error);
    throw new StartError(`The stack can't be synthesised: ${complaint(output)}`);
  }
}

/** Reads the staging stack from the directory it was synthesised into. */
export async function readStack(directory: string): Promise<SynthesisedStack> {
  const template = new Template(await readJson(join(directory, `${stackName}.template.json`)));
  const { files } = checked(assetsSchema, await readJson(join(directory, `${stackName}.assets.json`)), "the assets");
  const directories = new Map(
    Object.values(files).flatMap(({ source, destinations }) =>
      Object.values(destinations).map(({ objectKey }) => [objectKey, join(directory, source.path)]),
    ),
  );
  return {
    template,
    assetDirectory: (objectKey) => {
      const found = directories.get(objectKey);
      if (found === undefined) throw new StartError(`The synthesised stack has no asset ${objectKey}`);
      return found;
    },
  };
}

/** What esbuild says about the sources or, if it says nothing, Node.js and CDK do, without stack traces. */
function complaint(output: string): string {
  const [esbuild] = /✘ \[ERROR\].*?(?=\n+\d+ errors?\n)/s.exec(output) ?? [];
  return esbuild ?? output.replaceAll(/^(?: +at |Node\.js v).*\n?/gm, "").trim();
}

async function readJson(file: string): Promise<unknown> {
  return JSON.parse(await readFile(file, "utf8"));
}
