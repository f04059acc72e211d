import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Environment } from "../environments.ts";
import { CommandError } from "../terminal/errors.ts";
import { printable } from "../terminal/printable.ts";
import { requireAdoptedTables } from "./adopted-tables.ts";
import { acceptable, type Finding, findChanges } from "./findings.ts";
import {
  type AssemblyStack,
  findPlace,
  readAssembly,
  readDeployedStack,
  readTemplate,
  type StackToCompare,
} from "./stacks.ts";
import type { Place } from "./template.ts";

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

/** Where an app is synthesised to that was not before. */
export const ownAssembly = "cdk.out";

/**
 * Compares what is deployed, or was saved, with what comes, and prints what differs. What can't be
 * read is said before anything is synthesised.
 *
 * @returns whether all that stops it is accepted.
 */
export async function compare(environment: Environment, options: CompareOptions): Promise<boolean> {
  const accepted = readAccepted(options.accept);
  const { stackName } = environment;
  const ready = options.app ? await readAssembly(options.app, stackName) : undefined;
  const deployed = await readDeployed(environment, options);
  const next = ready ?? (await synthesise(stackName, options));
  for (const warning of next.warnings) console.log(`warning  ${printable(warning)}`);
  if (options.template) requireSameEnvironment(options.template, deployed.stack, next);
  else await requireAdoptedTables(environment, deployed.stack?.template, next.template);
  const findings = deployed.stack
    ? findChanges(deployed.stack, next, deployed.place)
    : firstDeployment(environment);
  const count = `${findings.length} finding${findings.length === 1 ? "" : "s"}`;
  console.log(`${stackName} ${deployed.description}: ${count}`);
  return report(findings, accepted);
}

/**
 * @throws CommandError for what no finding can be called: it may be meant to forge what is printed.
 */
function readAccepted(accept: string[] = []): Set<string> {
  const names = accept.join(" ").split(/\s+/).filter(Boolean);
  const wrong = names.find((name) => name !== acceptable(name));
  if (wrong === undefined) return new Set(names);
  throw new CommandError(`No finding can be called ${printable(wrong)}`);
}

/** The deployed stack, if there is one, and where it is. */
interface Deployed {
  stack?: StackToCompare | undefined;
  place?: Place | undefined;
  /** For people. */
  description: string;
}

async function readDeployed(environment: Environment, options: CompareOptions): Promise<Deployed> {
  const { account } = environment;
  if (options.template) {
    return {
      stack: { template: await readTemplate(options.template) },
      place: account && { account: account.id, region: account.region },
      description: `compared with ${options.template}`,
    };
  }
  useAwsSettings(options.profile);
  const place = await findPlace(environment);
  const stack = await readDeployedStack(environment.stackName, place);
  const where = `in account ${place.account}, region ${place.region}`;
  const description = stack
    ? `compared with what is deployed ${where}`
    : `is not deployed ${where}`;
  return { stack, place, description };
}

/** Makes the SDK look where CDK will deploy, which also knows a default region. */
function useAwsSettings(profile: string | undefined): void {
  if (profile) process.env["AWS_PROFILE"] = profile;
  const { AWS_DEFAULT_REGION: region } = process.env;
  if (region) process.env["AWS_REGION"] ||= region;
}

async function synthesise(
  stackName: string,
  { context = [] }: CompareOptions,
): Promise<AssemblyStack> {
  const words = context.flatMap((entry) => ["--context", entry]);
  const synth = ["synth", "--quiet", "--output", ownAssembly, ...words];
  await promisify(execFile)("cdk", synth).catch((error: { stderr?: string }) => {
    throw new CommandError(`Synthesis failed: ${error.stderr?.trim()}`);
  });
  return readAssembly(ownAssembly, stackName);
}

/**
 * @throws CommandError when a saved template describes another environment than the one that comes.
 */
function requireSameEnvironment(
  file: string,
  saved: StackToCompare | undefined,
  { template }: StackToCompare,
): void {
  const was = saved?.template.Description;
  if (was === template.Description) return;
  throw new CommandError(
    `${file} is of another environment: ${quoted(was)}, not ${quoted(template.Description)}`,
  );
}

function quoted(description: string | undefined): string {
  return description === undefined ? "no description" : `"${description}"`;
}

/** No stack is a finding where one should hold data: the credentials may be somebody else's. */
function firstDeployment({ keepData }: Environment): Finding[] {
  const text = "its tables will be new and empty";
  return keepData ? [{ name: "first-deployment", text }] : [];
}

/** Prints a line for each finding, and returns whether all of them are accepted. */
function report(findings: Finding[], accepted: Set<string>): boolean {
  for (const { name, text } of findings) {
    console.log(`${accepted.has(name) ? "accepted" : "STOP"}  ${name}  ${printable(text)}`);
  }
  const found = new Set(findings.map(({ name }) => name));
  for (const word of accepted.difference(found)) {
    console.error(`Nothing to accept by the name ${word}`);
  }
  const stopping = [...found.difference(accepted)];
  if (stopping.length > 0) console.log(`If that is meant: --accept "${stopping.join(" ")}"`);
  return stopping.length === 0;
}
