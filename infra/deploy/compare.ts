import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Environment } from "../environments.ts";
import { CommandError } from "../terminal/errors.ts";
import { counted, printable } from "../terminal/text.ts";
import { type Finding, findChanges, findingName } from "./changes-to-accept.ts";
import { findPlace, readAssembly, readDeployedStack, readTemplate } from "./stacks.ts";

/** The options of a comparison. */
export interface CompareOptions {
  /** The names of findings that are meant, separated by white space. */
  accept?: string[];
  /** The directory of a synthesised app; without it, one is synthesised into `cdk.out`. */
  app?: string;
  /** Values of CDK's context, like `canary=false`, for the synthesis. */
  context?: string[];
  profile?: string;
  /** The file of a saved template to compare with, instead of what is deployed. */
  template?: string;
}

/** Where an app is synthesised when no `app` is given. */
export const ownAssembly = "cdk.out";

/**
 * Compares the deployed stack, or a saved template, with the next one, and prints the findings. It
 * reads everything else before it synthesises, which takes longest.
 *
 * @returns whether every finding is accepted.
 * @throws CommandError when something can't be read or synthesised, or the saved template is
 * another environment's, and what the SDK throws.
 */
export async function compare(
  environment: Environment,
  options: CompareOptions,
): Promise<boolean> {
  const accepted = readAccepted(options.accept);
  const { stackName, keepData } = environment;
  const given = options.app && readAssembly(options.app, stackName);
  const { stack, place, description } = await readDeployed(environment, options);
  const next = given || (await synthesise(stackName, options));
  const actual = stack?.template.Description ?? "no description";
  const expected = next.template.Description;
  if (options.template && actual !== expected)
    throw new CommandError(
      `${options.template} belongs to another environment: ${actual}, not ${expected}`,
    );
  // A missing stack that should keep data may mean that the credentials are for another account.
  const isNew = { name: "first-deployment", text: "its tables will be new and empty" };
  const ifNew = keepData ? [isNew] : [];
  const findings = stack ? findChanges(stack, next, place) : ifNew;
  console.log(`${stackName} ${description}: ${counted(findings.length, "finding")}`);
  return report(findings, accepted);
}

/** @throws CommandError for a name that no finding can have: printed, it could forge output. */
function readAccepted(accept: string[] = []): Set<string> {
  const names = accept.join(" ").split(/\s+/).filter(Boolean);
  const wrong = names.find((name) => name !== findingName(name));
  if (wrong !== undefined) throw new CommandError(`No finding can be named ${wrong}`);
  return new Set(names);
}

/** Reads the deployed stack, if there is one. The description is printed after the stack's name. */
async function readDeployed(environment: Environment, options: CompareOptions) {
  if (options.template) {
    return {
      stack: { template: await readTemplate(options.template) },
      place: environment.account,
      description: `compared with ${options.template}`,
    };
  }
  // Only CDK reads AWS_DEFAULT_REGION.
  const { AWS_DEFAULT_REGION: region } = process.env;
  if (region) process.env["AWS_REGION"] ||= region;
  if (options.profile) process.env["AWS_PROFILE"] = options.profile;
  const place = await findPlace(environment);
  const stack = await readDeployedStack(environment.stackName, place.region);
  const state = stack ? "compared with what is deployed" : "is not deployed";
  const description = `${state} in account ${place.id}, region ${place.region}`;
  return { stack, place, description };
}

async function synthesise(stackName: string, { context = [] }: CompareOptions) {
  const words = ["synth", "--quiet", "--output", ownAssembly];
  for (const entry of context) words.push("--context", entry);
  await promisify(execFile)("cdk", words).catch((error: Error) => {
    throw new CommandError(`Synthesis failed: ${error.message.trim()}`);
  });
  return readAssembly(ownAssembly, stackName);
}

/** Prints a line for each finding, and returns whether all of them are accepted. */
function report(findings: Finding[], accepted: Set<string>): boolean {
  for (const { name, text } of findings) {
    console.log(
      `${accepted.has(name) ? "accepted" : "STOP"}  ${name}  ${printable(text)}`,
    );
  }
  const found = new Set(findings.map(({ name }) => name));
  for (const name of accepted.difference(found))
    console.error(`No finding is named ${name}`);
  const stopping = [...found.difference(accepted)];
  if (stopping.length > 0) console.log(`To accept: --accept "${stopping.join(" ")}"`);
  return stopping.length === 0;
}
