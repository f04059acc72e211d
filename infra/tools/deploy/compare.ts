import type { Environment } from "../../environments.ts";
import { CommandError } from "../terminal/errors.ts";
import { counted, printable } from "../terminal/text.ts";
import { synthesise } from "./cdk.ts";
import { type Finding, findChanges, findingName } from "./findings.ts";
import { findAccount, readAssembly, readDeployedStack, readTemplate } from "./stacks.ts";

/** The options of a comparison. */
export interface CompareOptions {
  /** The names of findings that are meant, separated by white space. */
  accept?: string[];
  /** The folder of a synthesised app; without it, one is synthesised. */
  app?: string;
  /** Values of CDK's context, like `canary=false`, for the synthesis. */
  context?: string[];
  profile?: string;
  /** The file of a saved template to compare with, instead of what is deployed. */
  template?: string;
}

/**
 * Compares the deployed stack, or a saved template, with the next one, and prints the findings. It
 * reads everything else before it synthesises, which takes longest.
 *
 * @param folder where to synthesise without `app`.
 * @returns the exit code: 0 when every finding is accepted.
 * @throws CommandError when something can't be read or synthesised, or the saved template is
 * another environment's, and what the SDK throws.
 */
export async function compare(
  environment: Environment,
  options: CompareOptions,
  folder: string,
) {
  const accepted = readAccepted(options.accept);
  const { stackName, keepData } = environment;
  const given = options.app && readAssembly(options.app, stackName);
  const { stack, account, description } = await readBaseline(environment, options);
  const next = given || (await synthesise(stackName, folder, options.context));
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
async function readBaseline(environment: Environment, options: CompareOptions) {
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
function selectAccount({ profile }: CompareOptions) {
  // Only CDK reads AWS_DEFAULT_REGION.
  const { AWS_DEFAULT_REGION: region } = process.env;
  if (region) process.env["AWS_REGION"] ||= region;
  if (profile) process.env["AWS_PROFILE"] = profile;
}
