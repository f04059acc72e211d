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
  const { app, template: file } = options;
  const given = app && readSynthesisedStack(app, stackName);
  const caller = file ? undefined : await findCaller(environment);
  const stack = file
    ? { template: await readSavedTemplate(file) }
    : caller && (await readDeployedStack(stackName, caller));
  const next = given || (await synthesiseStack(stackName, folder, options.context));
  if (file) requireSame(file, stack?.template.Description, next.template.Description);
  // Without credentials, an account is known only where the settings pin it.
  const asNew = keepData ? [firstDeployment] : [];
  const changes = stack ? review(stack, next, account) : asNew;
  const state = stack ? "compared with what is deployed" : "is not deployed";
  const description = caller
    ? `${state} in account ${caller.account}, region ${caller.region}`
    : `compared with ${file}`;
  console.log(`${stackName} ${description}`);
  return { exitCode: report(changes, options.accept), caller };
}

/** Checks that a saved template is the environment's, which its description says. */
function requireSame(file: string, actual = "no description", expected?: string) {
  if (actual === expected) return;
  throw new CommandError(
    `${file} belongs to another environment: ${actual}, not ${expected}`,
  );
}

/** A missing stack that should keep data may mean that the credentials are for another account. */
const firstDeployment: Review = {
  word: "first-deployment",
  lines: ["! Stack: a new one, with new and empty tables"],
};

/** Prints a line for each change to accept, and returns the exit code. */
function report(changes: Review[], accept = "") {
  for (const { lines } of changes) console.log(lines.join("\n"));
  const accepted = accept.split(/\s+/);
  const missing = changes
    .flatMap(({ word }) => (accepted.includes(word) ? [] : word))
    .join(" ");
  if (missing)
    console.log(
      `STOP  Read every line. To accept them all: --accept ${shellWord(missing)}`,
    );
  else console.log(changes.length > 0 ? "Accepted" : "Nothing to accept");
  return missing ? 1 : 0;
}
