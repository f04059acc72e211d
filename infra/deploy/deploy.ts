import { spawn } from "node:child_process";
import { once } from "node:events";
import { type Command, Option } from "commander";
import { type Environment, environments } from "../environments.ts";
import { CommandError } from "../terminal/errors.ts";
import { Script } from "../terminal/script.ts";
import { counted, printable } from "../terminal/text.ts";
import { type Finding, findChanges, findingName } from "./findings.ts";
import { findAccount, readAssembly, readDeployedStack, readTemplate } from "./stacks.ts";

type Environments = Record<string, Environment>;

/**
 * The options of `compare` and `deploy`. They pass on no others of CDK's, which could select
 * another role, or a stack that was not compared.
 */
interface Options {
  /** The names of findings that are meant, separated by white space. */
  accept?: string[];
  /** The directory of a synthesised app; without it, one is synthesised into `cdk.out`. */
  app?: string;
  /** Values of CDK's context, like `canary=false`, for the synthesis. */
  context?: string[];
  profile?: string;
  /** The file of a saved template to compare with, instead of what is deployed. */
  template?: string;
  outputsFile?: string;
  requireApproval?: string;
  revertDrift?: boolean;
}

/** Where an app is synthesised when no `app` is given. */
const ownAssembly = "cdk.out";

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
  await createProgram(entries).run(words, 2);
}

function createProgram(entries: Environments) {
  const program = new Script("npm run").exitOverride();
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
    .action(async (environment: Environment, options: Options) => {
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
    .action(async (environment: Environment, options: Options) => {
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

/**
 * Compares the deployed stack, or a saved template, with the next one, and prints the findings. It
 * reads everything else before it synthesises, which takes longest.
 *
 * @returns the exit code: 0 when every finding is accepted.
 * @throws CommandError when something can't be read or synthesised, or the saved template is
 * another environment's, and what the SDK throws.
 */
async function compare(environment: Environment, options: Options) {
  const accepted = readAccepted(options.accept);
  const { stackName, keepData } = environment;
  const given = options.app && readAssembly(options.app, stackName);
  const { stack, account, description } = await readBaseline(environment, options);
  const next = given || (await synthesise(stackName, options));
  const actual = stack?.template.Description ?? "no description";
  const expected = next.template.Description;
  if (options.template && actual !== expected)
    throw new CommandError(
      `${options.template} belongs to another environment: ${actual}, not ${expected}`,
    );
  // A missing stack that should keep data may mean that the credentials are for another account.
  const first = { name: "first-deployment", text: "its tables will be new and empty" };
  const firstDeployment = keepData ? [first] : [];
  const findings = stack ? findChanges(stack, next, account) : firstDeployment;
  console.log(`${stackName} ${description}: ${counted(findings.length, "finding")}`);
  return report(findings, accepted);
}

/** Prints a line for each finding, and returns the exit code. */
function report(findings: Finding[], accepted: Set<string>) {
  for (const { name, text } of findings) {
    const verdict = accepted.has(name) ? "accepted" : "STOP";
    console.log(`${verdict}  ${name}  ${printable(text)}`);
  }
  const found = new Set(findings.map(({ name }) => name));
  for (const name of accepted.difference(found))
    console.error(`No finding is named ${name}`);
  const stopping = [...found.difference(accepted)];
  if (stopping.length > 0) console.log(`To accept: --accept "${stopping.join(" ")}"`);
  return Math.min(stopping.length, 1);
}

/** @throws CommandError for a name that no finding can have: printed, it could forge output. */
function readAccepted(accept: string[] = []) {
  const names = accept.join(" ").split(/\s+/).filter(Boolean);
  const wrong = names.find((name) => name !== findingName(name));
  if (wrong !== undefined) throw new CommandError(`No finding can be named ${wrong}`);
  return new Set(names);
}

/**
 * Reads what the next template is compared with: the saved one, or the deployed stack, if there is
 * one. The description is printed after the stack's name.
 */
async function readBaseline(environment: Environment, options: Options) {
  if (options.template) {
    return {
      stack: { template: await readTemplate(options.template) },
      account: environment.account,
      description: `compared with ${options.template}`,
    };
  }
  selectAccount(options);
  const account = await findAccount(environment);
  const stack = await readDeployedStack(environment.stackName, account.region);
  const state = stack ? "compared with what is deployed" : "is not deployed";
  const description = `${state} in account ${account.id}, region ${account.region}`;
  return { stack, account, description };
}

/** Selects the account and region for the SDK and CDK, which both read them in the environment. */
function selectAccount({ profile }: Options) {
  // Only CDK reads AWS_DEFAULT_REGION.
  const { AWS_DEFAULT_REGION: region } = process.env;
  if (region) process.env["AWS_REGION"] ||= region;
  if (profile) process.env["AWS_PROFILE"] = profile;
}

async function synthesise(stackName: string, { context = [] }: Options) {
  const words = context.flatMap((entry) => ["--context", entry]);
  if (await cdk("synth", stackName, "--quiet", "--output", ownAssembly, ...words))
    throw new CommandError("Synthesis failed");
  return readAssembly(ownAssembly, stackName);
}

function deploy({ stackName }: Environment, options: Options) {
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

/** Runs CDK, which npm puts on the path, on this terminal, and returns its exit code. */
async function cdk(...words: string[]): Promise<number> {
  const [exitCode] = await once(spawn("cdk", words, { stdio: "inherit" }), "exit");
  return exitCode ?? 1;
}
