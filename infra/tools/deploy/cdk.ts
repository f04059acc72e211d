import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempDisposable, symlink } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { CommandError } from "../terminal/errors.ts";
import { type Caller, readSynthesisedStack } from "./stacks.ts";

/** The folder of `cdk.json`. */
const root = join(import.meta.dirname, "../../..");

/** Makes a folder that is removed with its variable. */
export const temporaryFolder = () =>
  mkdtempDisposable(join(tmpdir(), "pet-store-orders-"));

/**
 * Synthesises a stack into a folder.
 *
 * @param context values of CDK's context, like `canary=false`.
 * @throws CommandError when synthesis fails; CDK has already said why.
 */
export async function synthesiseStack(
  stackName: string,
  folder: string,
  context: string[] = [],
) {
  const words = context.flatMap((entry) => ["--context", entry]);
  if (await cdk(["synth", stackName, "--quiet", "--output", folder, ...words]))
    throw new CommandError("Synthesis failed");
  return readSynthesisedStack(folder, stackName);
}

/**
 * Runs CDK, which `petstore` puts on the path, on this terminal, and returns its exit code. CDK takes
 * its options from `words` and `cdk.json`, not from `CDK_*` variables or `~/.cdk.json`.
 *
 * @param caller as whom to work in AWS; without it, CDK gets no credentials.
 */
export async function cdk(words: string[], caller?: Caller): Promise<number> {
  await using home = await temporaryFolder();
  for (const name of [".aws", ".docker"])
    await symlink(join(homedir(), name), join(home.path, name));
  const foreign = new RegExp(`^(CDK|CONTEXT_OVERFLOW|AMAZON_${caller ? "" : "|AWS_"})`);
  const inherited = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  const env = {
    ...Object.fromEntries(inherited),
    HOME: home.path,
    ...(caller && {
      AWS_ACCESS_KEY_ID: caller.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: caller.credentials.secretAccessKey,
      AWS_SESSION_TOKEN: caller.credentials.sessionToken,
      AWS_REGION: caller.region,
    }),
  };
  const child = spawn("cdk", words, { stdio: "inherit", cwd: root, env });
  const [exitCode] = await once(child, "exit");
  return exitCode ?? 1;
}
