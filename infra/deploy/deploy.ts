import { spawn } from "node:child_process";
import { once } from "node:events";
import { type Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { type Environment, environments } from "../environments.ts";
import { errorText } from "../terminal/errors.ts";
import { Script } from "../terminal/script.ts";
import { type CompareOptions, compare, ownAssembly } from "./compare.ts";

type Environments = Record<string, Environment>;

if (import.meta.main) await runDeploy(process.argv.slice(2));

/**
 * Runs `npm run compare`, `deploy`, `diff` or `drift`, and sets the exit code: 1 when a finding
 * is not accepted, 2 when the command line is wrong or something fails, otherwise CDK's own.
 *
 * @param words the command line, from the name of the command on.
 * @param entries the environments that it may name.
 */
export async function runDeploy(
  words: string[],
  entries: Environments = environments,
): Promise<void> {
  try {
    await createProgram(entries).parseAsync(words, { from: "user" });
  } catch (error) {
    process.exitCode = Object(error).exitCode === 0 ? 0 : 2;
    if (!(error instanceof CommanderError)) console.error(errorText(error));
  }
}

function createProgram(entries: Environments): Command {
  const program = new Script("npm run").exitOverride();
  const names = Object.keys(entries);
  const command = (name: string, description: string) =>
    program
      .command(name)
      .usage("-- <environment> [options]")
      .description(description)
      .argument("<environment>", names.join(" or "), (word) => {
        const environment = entries[word];
        if (environment) return environment;
        throw new InvalidArgumentError(`Choose from ${names.join(", ")}.`);
      });

  addComparison(
    command("compare", "List what a deployment would change out of the ordinary"),
  )
    .option("--template <file>", "compare with a saved template; needs no credentials")
    .action(async (environment: Environment, options: CompareOptions) => {
      process.exitCode = (await compare(environment, options)) ? 0 : 1;
    });
  addComparison(
    command("deploy", "Compare, then deploy with CDK if every finding is accepted"),
  )
    .option(
      "--require-approval <level>",
      "when to ask: never, any-change, broadening, destructive",
    )
    .option("--outputs-file <file>", "where CDK writes the stack's outputs, as JSON")
    .option("--revert-drift", "also undo what was changed outside CloudFormation")
    .action(async (environment: Environment, options: DeployOptions) => {
      const mayDeploy = await compare(environment, options);
      process.exitCode = mayDeploy ? await deploy(environment, options) : 1;
    });
  command("diff", "Print every change that a deployment would make")
    .argument("[cdk-options...]", "options of `cdk diff`, such as --template FILE")
    .allowUnknownOption()
    .action(async ({ stackName }: Environment, cdkOptions: string[]) => {
      const isSaved = cdkOptions.some((option) => /^--template(=|$)/.test(option));
      if (isSaved)
        console.log("Compared with a saved template, not with what is deployed.");
      process.exitCode = await cdk("diff", stackName, "--exclusively", ...cdkOptions);
    });
  command("drift", "List what was changed by hand since the last deployment").action(
    async ({ stackName }: Environment) => {
      process.exitCode = await cdk("drift", stackName, "--fail");
    },
  );
  return program;
}

/** No other options of CDK's: they could select another role, or a stack that was not compared. */
interface DeployOptions extends CompareOptions {
  outputsFile?: string;
  requireApproval?: string;
  revertDrift?: boolean;
}

function deploy({ stackName }: Environment, options: DeployOptions): Promise<number> {
  const {
    app = ownAssembly,
    outputsFile,
    profile,
    requireApproval,
    revertDrift,
  } = options;
  const words = [
    ...(profile ? ["--profile", profile] : []),
    ...(requireApproval ? ["--require-approval", requireApproval] : []),
    ...(outputsFile ? ["--outputs-file", outputsFile] : []),
    ...(revertDrift ? ["--revert-drift"] : []),
  ];
  return cdk("deploy", stackName, "--exclusively", ...words, "--app", app);
}

function addComparison(command: Command): Command {
  const collect = (value: string, before: string[] = []) => [...before, value];
  return command
    .option("--accept <names>", "findings that are meant; may be repeated", collect)
    .option(
      "--app <directory>",
      "a synthesised app; without it, synthesises into cdk.out",
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

/** Runs CDK, which npm puts on the path, and returns its exit code. */
async function cdk(...words: string[]): Promise<number> {
  const [exitCode] = await once(spawn("cdk", words, { stdio: "inherit" }), "exit");
  return exitCode ?? 1;
}
