import { type Command, Option } from "commander";
import { type Environment, environments } from "../environments.ts";
import { Script } from "../terminal/script.ts";
import { cdk, ownAssembly } from "./cdk.ts";
import { type CompareOptions, compare } from "./compare.ts";

/** The options of `deploy`. */
interface DeployOptions extends CompareOptions {
  outputsFile?: string;
  requireApproval?: string;
  revertDrift?: boolean;
}

if (import.meta.main) await createProgram().run(process.argv.slice(2));

/**
 * The command line of `npm run compare`, `deploy`, `diff` and `drift`. Its exit code is 1 when a
 * finding is not accepted, 2 when the command line is wrong or something fails, otherwise CDK's own.
 *
 * @param entries the environments that it may name.
 */
export function createProgram(entries: Record<string, Environment> = environments) {
  const program = new Script("npm run", 2).exitOverride();
  const names = Object.keys(entries).join(" or ");
  const command = (name: string, description: string) =>
    program
      .command(name)
      .usage("-- <environment> [options]")
      .description(description)
      .argument(
        "<environment>",
        names,
        (word) =>
          Object.values(entries).find(({ name }) => name === word) ??
          program.error(`No environment is named ${word}. Choose ${names}.`),
      );

  addComparison(
    command("compare", "List what a deployment would change out of the ordinary"),
  )
    .option("--template <file>", "compare with a saved template; needs no credentials")
    .action(async (environment: Environment, options: CompareOptions) => {
      process.exitCode = await compare(environment, options);
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
      process.exitCode =
        (await compare(environment, options)) || (await deploy(environment, options));
    });
  command("diff", "Print every change that a deployment would make")
    .argument("[cdk-options...]", "options of `cdk diff`, such as --template FILE")
    .allowUnknownOption()
    .action(async ({ stackName }: Environment, cdkOptions: string[]) => {
      if (cdkOptions.some((option) => /^--template(=|$)/.test(option)))
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

/**
 * Adds the options that `compare` and `deploy` share. They pass on no others of CDK's, which could
 * select another role, or a stack that was not compared.
 */
function addComparison(command: Command) {
  // Not `<names...>`, which would take an environment after it, too.
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

function deploy({ stackName }: Environment, options: DeployOptions) {
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
