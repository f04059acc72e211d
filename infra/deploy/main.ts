import { spawn } from "node:child_process";
import { once } from "node:events";
import { Argument, Command, CommanderError, Option } from "commander";
import { type EnvironmentName, environments } from "../environments.ts";
import { findChanges } from "./findings.ts";
import { readAssembly, readDeployedStack, readTemplate, requireAdoptedTables } from "./stacks.ts";

interface Options {
  accept: string[];
  app?: string;
  context: string[];
  profile?: string;
  template?: string;
}

if (import.meta.main) await runDeploy(process.argv.slice(2));

/**
 * Runs `npm run compare`, `deploy` or `diff`, and sets the exit code: 1 when a finding stops it, 2
 * when it is used wrongly or can't be done, and CDK's own.
 *
 * @param words the command line, from the name of the command on.
 */
export async function runDeploy(words: string[]): Promise<void> {
  try {
    await createProgram().parseAsync(words, { from: "user" });
  } catch (error) {
    process.exitCode = error instanceof CommanderError && error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof CommanderError))
      console.error(error instanceof Error ? error.message : error);
  }
}

function createProgram(): Command {
  const program = new Command("npm run").exitOverride().configureOutput({
    outputError: (text, write) => write(text.replace(/^error: command-argument value/, "error:")),
  });
  const collect = (value: string, before: string[]) => [...before, value];
  const context = new Option("-c, --context <key=value>", "such as canary=false, for the synthesis")
    .argParser(collect)
    .default([])
    .conflicts("app");
  const command = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .addArgument(new Argument("<environment>").choices(Object.keys(environments)));
  const comparing = (name: string, description: string) =>
    command(name, description)
      .option("--accept <names>", "findings that are meant; may be repeated", collect, [])
      .option("--app <directory>", "a synthesised app; without it, synthesises into cdk.out")
      .addOption(
        new Option("--profile <name>", "the AWS profile to compare and deploy with").env(
          "AWS_PROFILE",
        ),
      )
      .addOption(context);

  comparing("compare", "Say what a deployment would do to data, clients or protections")
    .option("--template <file>", "compare with a saved template; needs no credentials")
    .action(async (name: EnvironmentName, options: Options) => {
      process.exitCode = (await compare(name, options)) ? 0 : 1;
    });
  comparing("deploy", "Compare, then deploy with CDK if every finding is accepted")
    .argument("[cdk-options...]", "options of `cdk deploy`")
    .allowUnknownOption()
    .action(async (name: EnvironmentName, cdkOptions: string[], options: Options) => {
      const { app = "cdk.out", profile } = options;
      const { stackName } = environments[name];
      // A restored table exists before it belongs to the stack, under a name of its own; nothing
      // else does.
      const adopt = [
        "--exclusively",
        "--import-existing-resources",
        ...(profile ? ["--profile", profile] : []),
      ];
      const mayDeploy = await compare(name, options);
      process.exitCode = mayDeploy
        ? await cdk("deploy", stackName, ...adopt, ...cdkOptions, "--app", app)
        : 1;
    });
  command("diff", "Print every change that a deployment would make")
    .argument("[cdk-options...]", "options of `cdk diff`, such as --template FILE")
    .allowUnknownOption()
    .action(async (name: EnvironmentName, cdkOptions: string[]) => {
      if (cdkOptions.includes("--template"))
        console.log("Compared with a saved template, not with what is deployed.");
      process.exitCode = await cdk(
        "diff",
        environments[name].stackName,
        "--exclusively",
        ...cdkOptions,
      );
    });
  return program;
}

/** Runs CDK, which npm puts on the path, and returns its exit code. */
async function cdk(...words: string[]): Promise<number> {
  const [exitCode] = await once(spawn("cdk", words, { stdio: "inherit" }), "exit");
  return exitCode ?? 1;
}

/** Prints what an app would change, and returns whether all of that is accepted. */
async function compare(name: EnvironmentName, options: Options): Promise<boolean> {
  const { app = "cdk.out", context, profile, template } = options;
  const { stackName } = environments[name];
  // The SDK must look where CDK will deploy, which also knows a default region.
  if (profile) process.env["AWS_PROFILE"] = profile;
  const { AWS_DEFAULT_REGION: region } = process.env;
  if (region) process.env["AWS_REGION"] ||= region;
  if (!options.app) {
    const words = context.flatMap((entry) => ["--context", entry]);
    const exitCode = await cdk("synth", "--quiet", "--output", app, ...words);
    // It has said why.
    if (exitCode !== 0) throw new CommanderError(exitCode, "cdk.synth", "");
  }
  const next = await readAssembly(app, stackName);
  const deployed = template
    ? { template: await readTemplate(template) }
    : await readDeployedStack(environments[name]);
  if (!template) await requireAdoptedTables(environments[name], deployed?.template, next.template);
  if (!deployed) {
    console.log(`${stackName} is not deployed yet: nothing to compare with`);
    return true;
  }
  const findings = findChanges(deployed, next);
  const found = new Set(findings.map((finding) => finding.name));
  // The workflow passes on all that someone typed in one word.
  const accepted = new Set(options.accept.flatMap((names) => names.split(" ")).filter(Boolean));
  const stopping = [...found.difference(accepted)];
  const count = `${findings.length} finding${findings.length === 1 ? "" : "s"}`;
  console.log(`${stackName}, compared with ${template ?? "what is deployed"}: ${count}`);
  for (const { name, text } of findings)
    console.log(`${accepted.has(name) ? "accepted" : "STOP"}  ${name}  ${text}`);
  for (const word of accepted.difference(found))
    console.error(`Nothing to accept by the name ${word}`);
  if (stopping.length > 0) console.log(`If that is meant: --accept "${stopping.join(" ")}"`);
  return stopping.length === 0;
}
