import { Argument, Command, Option } from "commander";
import { type EnvironmentName, environments } from "../environments.ts";
import { cdk, readAssembly, readTemplate } from "./assembly.ts";
import { readDeployedStack } from "./deployed-stack.ts";
import { findChanges } from "./findings.ts";

interface Options {
  accept: string[];
  app?: string;
  context?: string[];
  template?: string;
}

/** The commands behind `npm run compare`, `deploy` and `diff`. Wrong use prints one line and exits with 2. */
export function createDeployProgram(): Command {
  const program = new Command("npm run").exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
  command(program, "compare", "Say what a deployment would do to data, clients or protections")
    .option("--template <file>", "compare with a saved template; needs no credentials")
    .action(async (name: EnvironmentName, options: Options) => {
      const app = options.app ?? (await synthesise(options));
      process.exitCode = (await mayDeploy(name, app, options)) ? 0 : 1;
    });
  command(program, "deploy", "Compare, then deploy with CDK if every finding is accepted")
    .allowUnknownOption()
    .argument("[cdk-options...]", "options of `cdk deploy`")
    .action(async (name: EnvironmentName, cdkOptions: string[], options: Options) => {
      const app = options.app ?? (await synthesise(options));
      if (!(await mayDeploy(name, app, options))) process.exitCode = 1;
      // A table that was restored becomes the stack's by its name; nothing else of the stack exists before it.
      else process.exitCode = await runCdk("deploy", name, "--app", app, "--import-existing-resources", ...cdkOptions);
    });
  program
    .command("diff")
    .description("Print every change that a deployment would make")
    .addArgument(environmentArgument())
    .argument("[cdk-options...]", "options of `cdk diff`, such as --template FILE")
    .allowUnknownOption()
    .action(async (name: EnvironmentName, cdkOptions: string[]) => {
      if (cdkOptions.includes("--template")) console.log("Compared with a saved template, not with what is deployed.");
      process.exitCode = await runCdk("diff", name, ...cdkOptions);
    });
  return program;
}

function command(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .addArgument(environmentArgument())
    .option("--accept <findings>", "findings that are meant, by name; may be repeated", collect, [])
    .option("--app <directory>", "a synthesised app; without it, synthesises into cdk.out")
    .addOption(
      new Option("-c, --context <key=value>", "context for the synthesis, such as canary=false")
        .argParser(collect)
        .conflicts("app"),
    );
}

function environmentArgument(): Argument {
  return new Argument("<environment>").choices(Object.keys(environments));
}

/** An option may be repeated. */
function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

async function synthesise({ context = [] }: Options): Promise<string> {
  const words = context.flatMap((entry) => ["--context", entry]);
  if ((await cdk("synth", "--quiet", "--output", "cdk.out", ...words)) !== 0) process.exit(2);
  return "cdk.out";
}

function runCdk(verb: string, name: EnvironmentName, ...options: string[]): Promise<number> {
  return cdk(verb, environments[name].stackName, "--exclusively", ...options);
}

/** Prints the findings about a deployment, and returns whether each is accepted. */
async function mayDeploy(name: EnvironmentName, app: string, options: Options): Promise<boolean> {
  const { stackName } = environments[name];
  const { template } = options;
  // The workflow passes on all that someone typed in one word.
  const accept = options.accept.flatMap((names) => names.split(" ")).filter((word) => word !== "");
  const next = await readAssembly(app, stackName);
  const deployed = template ? { template: await readTemplate(template) } : await readDeployedStack(environments[name]);
  if (deployed === undefined) {
    console.log(`${stackName} is not deployed yet: nothing to compare with`);
    return true;
  }
  const found = findChanges(deployed, next);
  const open = found.filter((finding) => !accept.includes(finding.name));
  console.log(`${stackName}, compared with ${template ?? "what is deployed"}: ${found.length} findings`);
  for (const finding of found) {
    console.log(`${open.includes(finding) ? "STOP    " : "accepted"}  ${finding.name}  ${finding.text}`);
  }
  for (const unknown of accept.filter((word) => found.every((finding) => finding.name !== word))) {
    console.error(`Nothing to accept by the name ${unknown}`);
  }
  if (open.length > 0) console.log(`If that is meant: --accept "${open.map((finding) => finding.name).join(" ")}"`);
  return open.length === 0;
}
