import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { type Environment, environments } from "../../environments.ts";
import { addProfile } from "../terminal/caller.ts";
import type { CompareOptions } from "./compare-stack.ts";

/** The options of `deploy`. */
interface DeployOptions extends CompareOptions {
  outputsFile?: string;
  requireApproval?: string;
  revertDrift?: boolean;
}

/** CDK runs in another folder than its caller. */
const resolvePath = (path: string) => resolve(path);

const appText = "a synthesised app; without it, synthesises one";

// These modules take a while to load.
const load = async () => ({
  ...(await import("./cdk.ts")),
  ...(await import("./compare-stack.ts")),
  ...(await import("./stacks.ts")),
});

type Entries = Record<string, Environment>;

/** Adds what is common to commands about an environment, and sets the exit code of their failures. */
function addEnvironment(command: Command, entries: Entries) {
  // 1 is for changes that are not accepted, and drift.
  process.exitCode = 2;
  const names = Object.keys(entries).join(" or ");
  return addProfile(command)
    .argument(
      "<environment>",
      names,
      (word) =>
        Object.values(entries).find(({ name }) => name === word) ??
        command.error(`No environment is named ${word}. Choose ${names}.`),
    )
    .addOption(
      new Option("--env <name>")
        .hideHelp()
        .argParser((name) =>
          command.error(`error: write ${command.name()} ${name}, without --env`),
        ),
    );
}

/** Adds `compare`, whose exit code is 1 when a change is not accepted. */
export function addCompare(command: Command, entries: Entries = environments) {
  addComparison(addEnvironment(command, entries))
    .option("--template <file>", "compare with a saved template; needs no credentials")
    .action(async (environment: Environment, options: CompareOptions) => {
      const { compare, temporaryFolder } = await load();
      await using folder = await temporaryFolder();
      const { exitCode } = await compare(environment, options, folder.path);
      process.exitCode = exitCode;
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
      const { cdk, compare, temporaryFolder } = await load();
      await using folder = await temporaryFolder();
      const { exitCode, caller } = await compare(environment, options, folder.path);
      process.exitCode =
        exitCode || (await cdk(deployment(environment, options, folder.path), caller));
    });
}

/** Adds `diff`, whose exit code is CDK's own. */
export function addDiff(command: Command, entries: Entries = environments) {
  addEnvironment(command, entries)
    .argument("[cdk-options...]", "options of `cdk diff`, such as --security-only")
    .option(
      "--template <file>",
      "compare with a saved template; needs no credentials",
      resolvePath,
    )
    .option("-a, --app <directory>", appText, resolvePath)
    .allowUnknownOption()
    .action(async (environment: Environment, cdkOptions: string[], options) => {
      const { cdk, findCaller } = await load();
      const { template, app }: CompareOptions = options;
      const caller = template ? undefined : await findCaller(environment);
      const saved = template ? ["--template", template] : [];
      const given = app ? ["--app", app] : [];
      const words = ["diff", environment.stackName, "--exclusively", ...saved, ...given];
      process.exitCode = await cdk([...words, ...cdkOptions], caller);
    });
}

/** Adds `drift`, whose exit code is CDK's own, or 2 when it has not checked what matters. */
export function addDrift(command: Command, entries: Entries = environments) {
  addEnvironment(command, entries).action(async (environment: Environment) => {
    const { cdk, findCaller, requireDriftChecked } = await load();
    const { stackName } = environment;
    const caller = await findCaller(environment);
    const exitCode = await cdk(["drift", stackName, "--fail"], caller);
    if (exitCode === 0) await requireDriftChecked(stackName, caller);
    process.exitCode = exitCode;
  });
}

/** Adds `synth`, whose exit code is CDK's own. */
export function addSynth(command: Command) {
  command
    .argument("[cdk-options...]", "options of `cdk synth`, such as -c canary=false")
    .option("-o, --output <folder>", "where to write (default: cdk.out)", resolvePath)
    .allowUnknownOption()
    .action(async (cdkOptions: string[], { output }: { output?: string }) => {
      const { cdk } = await load();
      const folder = output === undefined ? [] : ["--output", output];
      process.exitCode = await cdk(["synth", "--quiet", ...folder, ...cdkOptions]);
    });
}

/**
 * Adds the options that `compare` and `deploy` share. They pass on no others of CDK's, which could
 * select another role, or a stack that was not compared.
 */
function addComparison(command: Command) {
  // An option like `<names...>` would also take an environment after it.
  const collect = (value: string, before: string[] = []) => [...before, value];
  return command
    .option("--accept <digest>", "changes that are meant")
    .option("--app <directory>", appText, resolvePath)
    .addOption(
      new Option("-c, --context <key=value>", "such as canary=false, for the synthesis")
        .argParser(collect)
        .conflicts("app"),
    );
}

/** The command line of CDK. What its own settings could change about a deployment is said. */
function deployment(
  { stackName }: Environment,
  options: DeployOptions,
  folder: string,
): string[] {
  const { app = folder, outputsFile, requireApproval = "broadening" } = options;
  return [
    ...["deploy", stackName, "--exclusively", "--app", app],
    ...["--method", "change-set", "--rollback", "--no-hotswap", "--no-express"],
    ...["--require-approval", requireApproval],
    ...(outputsFile ? ["--outputs-file", outputsFile] : []),
    ...(options.revertDrift ? ["--revert-drift"] : []),
  ];
}
