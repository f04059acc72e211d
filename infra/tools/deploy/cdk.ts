import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { CommandError } from "../terminal/errors.ts";
import { readAssembly } from "./stacks.ts";

/** The folder of `cdk.json`. */
const root = join(import.meta.dirname, "../../..");

/**
 * Synthesises a stack into a folder.
 *
 * @param context values of CDK's context, like `canary=false`.
 * @throws CommandError when synthesis fails; CDK has already said why.
 */
export async function synthesise(
  stackName: string,
  folder: string,
  context: string[] = [],
) {
  const words = context.flatMap((entry) => ["--context", entry]);
  if (await cdk("synth", stackName, "--quiet", "--output", folder, ...words))
    throw new CommandError("Synthesis failed");
  return readAssembly(folder, stackName);
}

/** Runs CDK, which `petstore` puts on the path, on this terminal, and returns its exit code. */
export async function cdk(...words: string[]): Promise<number> {
  const child = spawn("cdk", words, { stdio: "inherit", cwd: root });
  const [exitCode] = await once(child, "exit");
  return exitCode ?? 1;
}
