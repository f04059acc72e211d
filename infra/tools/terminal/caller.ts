import type { Command } from "commander";
import { CommandError } from "./errors.ts";
import { parseNonEmpty } from "./script.ts";

/** Adds the choice of an AWS profile, which the SDK and CDK find in the environment. */
export function addProfile(command: Command) {
  return command
    .option(
      "--profile <name>",
      "the AWS profile to work with (default: AWS_PROFILE)",
      parseNonEmpty,
    )
    .on("option:profile", (name) => {
      process.env["AWS_PROFILE"] = name;
    });
}

/** An environment that may be pinned to an account. */
interface Pinned {
  name: string;
  account?: { id: string; region: string };
}

// A person waits longer than a caller of the API, but not forever.
export const limits = { connectionTimeout: 3000, requestTimeout: 10_000, maxAttempts: 5 };

/**
 * The options of an SDK client that limits every wait, like `createClient`'s. Without a region among
 * them, it takes the profile's.
 */
export function clientOptions({ account }: Pinned) {
  const { AWS_REGION, AWS_DEFAULT_REGION } = process.env;
  const region = account?.region || AWS_REGION || AWS_DEFAULT_REGION;
  const { maxAttempts, ...timeouts } = limits;
  const requestHandler = {
    ...timeouts,
    socketTimeout: timeouts.requestTimeout,
    throwOnRequestTimeout: true,
  };
  return { maxAttempts, requestHandler, ...(region && { region }) };
}

/** @throws CommandError when the environment is pinned to another account. */
export function requireAccount({ name, account: pinned }: Pinned, account: string) {
  if (!pinned || account === pinned.id) return;
  throw new CommandError(
    `${name} belongs to account ${pinned.id}, but these credentials are for ${account}: ` +
      `assume a role in ${pinned.id} first`,
  );
}
