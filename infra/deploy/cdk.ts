import { spawn } from "node:child_process";
import { once } from "node:events";
import { CommandError } from "../terminal/errors.ts";
import { readAssembly } from "./stacks.ts";

/** Where the app is synthesised without `--app`. */
export const ownAssembly = "cdk.out";

/**
 * Synthesises a stack.
 *
 * @param context values of CDK's context, like `canary=false`.
 * @throws CommandError when synthesis fails; CDK has already said why.
 */
export async function synthesise(stackName: string, context: string[] = []) {
  const words = context.flatMap((entry) => ["--context", entry]);
  if (await cdk("synth", stackName, "--quiet", "--output", ownAssembly, ...words))
    throw new CommandError("Synthesis failed");
  return readAssembly(ownAssembly, stackName);
}

/** Runs CDK, which npm puts on the path, on this terminal, and returns its exit code. */
export async function cdk(...words: string[]): Promise<number> {
  const [exitCode] = await once(spawn("cdk", words, { stdio: "inherit" }), "exit");
  return exitCode ?? 1;
}
