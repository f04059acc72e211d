import type { Environment } from "../../environments.ts";
import { CommandError } from "../terminal/errors.ts";
import { shellWord } from "../terminal/text.ts";
import { synthesiseStack } from "./cdk.ts";
import { type Review, review } from "./review.ts";
import {
  findCaller,
  readDeployedStack,
  readSavedTemplate,
  readSynthesisedStack,
} from "./stacks.ts";

/** The options of a comparison. */
export interface CompareOptions {
  /** The words for changes that are meant, separated by white space. */
  accept?: string;
  /** The folder of a synthesised app; without it, one is synthesised. */
  app?: string;
  /** Values of CDK's context, like `canary=false`, for the synthesis. */
  context?: string[];
  profile?: string;
  /** The file of a saved template to compare with, instead of what is deployed. */
  template?: string;
}

/**
 * Compares the deployed stack, or a saved template, with the next one, and prints what must be
 * accepted. It reads everything else before it synthesises, which takes longest.
 *
 * @param folder where to synthesise without `app`.
 * @returns the exit code, which is 0 when everything is accepted, and as whom AWS was asked.
 * @throws CommandError when something can't be read or synthesised, or the saved template is
 * another environment's, and what the SDK throws.
 */
export async function compare(
  environment: Environment,
  options: CompareOptions,
  folder: string,
) {
  const { stackName, keepData, account } = environment;
  const given = options.app && readSynthesisedStack(options.app, stackName);
  const { stack, description, caller } = await readBaseline(environment, options);
  const next = given || (await synthesiseStack(stackName, folder, options.context));
  const actual = stack?.template.Description ?? "no description";
  const expected = next.template.Description;
  if (options.template && actual !== expected)
    throw new CommandError(
      `${options.template} belongs to another environment: ${actual}, not ${expected}`,
    );
  // Without credentials, an account is known only where the settings pin it.
  const changes = stack ? review(stack, next, account) : firstDeployment(keepData);
  console.log(`${stackName} ${description}`);
  return { exitCode: report(changes, options.accept), caller };
}

/** A missing stack that should keep data may mean that the credentials are for another account. */
function firstDeployment(keepsData: boolean): Review[] {
  const lines = ["! Stack: a new one, with new and empty tables"];
  return keepsData ? [{ word: "first-deployment", lines }] : [];
}

/** Prints a line for each change to accept, and returns the exit code. */
function report(changes: Review[], accept = "") {
  for (const line of changes.flatMap(({ lines }) => lines)) console.log(line);
  const accepted = accept.split(/\s+/);
  const words = changes.map(({ word }) => word);
  const missing = words.filter((word) => !accepted.includes(word)).join(" ");
  if (missing)
    console.log(
      `STOP  Read every line. To accept them all: --accept ${shellWord(missing)}`,
    );
  else console.log(words.length > 0 ? "Accepted" : "Nothing to accept");
  return missing ? 1 : 0;
}

/**
 * Reads what the next template is compared with: the saved one, or the deployed stack, if there is
 * one. The description is printed after the stack's name.
 */
async function readBaseline(environment: Environment, options: CompareOptions) {
  if (options.template) {
    return {
      stack: { template: await readSavedTemplate(options.template) },
      description: `compared with ${options.template}`,
    };
  }
  const caller = await findCaller(environment, options.profile);
  const stack = await readDeployedStack(environment.stackName, caller);
  const state = stack ? "compared with what is deployed" : "is not deployed";
  const description = `${state} in account ${caller.account}, region ${caller.region}`;
  return { stack, description, caller };
}
