import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { type Environment, environments } from "../../environments.ts";
import type { CompareOptions } from "./compare.ts";

/** The options of `deploy`. */
interface DeployOptions extends CompareOptions {
  outputsFile?: string;
  requireApproval?: string;
  revertDrift?: boolean;
}

/** CDK runs in another folder than its caller. */
const resolvePath = (path: string) => resolve(path);

// Both take a while to load.
const compare: typeof import("./compare.ts").compare = async (...given) =>
  (await import("./compare.ts")).compare(...given);
const cdk = async (...words: string[]) => (await import("./cdk.ts")).cdk(...words);

const temporaryFolder = () => mkdtempDisposable(join(tmpdir(), "pet-store-orders-"));

type Entries = Record<string, Environment>;

/** Adds the environment that a command is about, and sets the exit code of its failures. */
function addEnvironment(command: Command, entries: Entries) {
  // 1 is for changes that are not accepted, and drift.
  process.exitCode = 2;
  const names = Object.keys(entries).join(" or ");
  return command.argument(
    "<environment>",
    names,
    (word) =>
      Object.values(entries).find(({ name }) => name === word) ??
      command.error(`No environment is named ${word}. Choose ${names}.`),
  );
}

/** Adds `compare`, whose exit code is 1 when a change is not accepted. */
export function addCompare(command: Command, entries: Entries = environments) {
  addComparison(addEnvironment(command, entries))
    .option("--template <file>", "compare with a saved template; needs no credentials")
    .action(async (environment: Environment, options: CompareOptions) => {
      await using folder = await temporaryFolder();
      process.exitCode = await compare(environment, options, folder.path);
    });
}

/** Adds `deploy`, whose exit code is that of `compare` or CDK's own. */
export function addDeploy(command: Command, entries: Entries = environments) {
  addComparison(addEnvironment(command, entries))
    .option(
      "--require-approval <level>",
      "when to ask: never, any-change, broadening, destructive",
    )
    .option(
      "--outputs-file <file>",
      "where CDK writes the stack's outputs, as JSON",
      resolvePath,
    )
    .option("--revert-drift", "also undo what was changed outside CloudFormation")
    .action(async (environment: Environment, options: DeployOptions) => {
      await using folder = await temporaryFolder();
      process.exitCode =
        (await compare(environment, options, folder.path)) ||
        (await deploy(environment, options, folder.path));
    });
}

/** Adds `diff`, whose exit code is CDK's own. */
export function addDiff(command: Command, entries: Entries = environments) {
  addEnvironment(command, entries)
    .argument("[cdk-options...]", "options of `cdk diff`, such as --template FILE")
    .allowUnknownOption()
    .action(async ({ stackName }: Environment, cdkOptions: string[]) => {
      if (cdkOptions.some((option) => /^--template(=|$)/.test(option)))
        console.log("Compared with a saved template, not with what is deployed.");
      process.exitCode = await cdk("diff", stackName, "--exclusively", ...cdkOptions);
    });
}

/** Adds `drift`, whose exit code is CDK's own. */
export function addDrift(command: Command, entries: Entries = environments) {
  addEnvironment(command, entries).action(async ({ stackName }: Environment) => {
    process.exitCode = await cdk("drift", stackName, "--fail");
  });
}

/** Adds `synth`, whose exit code is CDK's own. */
export function addSynth(command: Command) {
  command
    .argument("[cdk-options...]", "options of `cdk synth`, such as -c canary=false")
    .allowUnknownOption()
    .action(async (cdkOptions: string[]) => {
      process.exitCode = await cdk("synth", "--quiet", ...cdkOptions);
    });
}

/**
 * Adds the options that `compare` and `deploy` share. They pass on no others of CDK's, which could
 * select another role, or a stack that was not compared.
 */
function addComparison(command: Command) {
  // Not `<names...>`, which would take an environment after it, too.
  const collect = (value: string, before: string[] = []) => [...before, value];
  return command
    .option("--accept <digest>", "changes that are meant; may be repeated", collect)
    .option(
      "--app <directory>",
      "a synthesised app; without it, synthesises one",
      resolvePath,
    )
    .addOption(
      new Option("--profile <name>", "the AWS profile to work with").env("AWS_PROFILE"),
    )
    .addOption(
      new Option("-c, --context <key=value>", "such as canary=false, for the synthesis")
        .argParser(collect)
        .conflicts("app"),
    );
}

function deploy({ stackName }: Environment, options: DeployOptions, folder: string) {
  const { app = folder, outputsFile, profile, requireApproval, revertDrift } = options;
  const words = [
    ...(profile ? ["--profile", profile] : []),
    ...(requireApproval ? ["--require-approval", requireApproval] : []),
    ...(outputsFile ? ["--outputs-file", outputsFile] : []),
    ...(revertDrift ? ["--revert-drift"] : []),
  ];
  return cdk("deploy", stackName, "--exclusively", ...words, "--app", app);
}
