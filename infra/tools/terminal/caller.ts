import type { Command } from "commander";
import { CommandError } from "./errors.ts";

/** Adds the choice of an AWS profile, which the SDK and CDK find in the environment. */
export function addProfile(command: Command) {
  return command
    .option("--profile <name>", "the AWS profile to work with (default: AWS_PROFILE)")
    .on("option:profile", (name) => {
      process.env["AWS_PROFILE"] = name;
    });
}

/** An environment that may be pinned to an account. */
interface Pinned {
  name: string;
  account?: { id: string; region: string };
}

/** The region for an SDK client; without one, it takes the profile's. */
export function chosenRegion({ account }: Pinned) {
  const { AWS_REGION, AWS_DEFAULT_REGION } = process.env;
  const region = account?.region || AWS_REGION || AWS_DEFAULT_REGION;
  return region ? { region } : {};
}

/** @throws CommandError when the environment is pinned to another account. */
export function requireAccount({ name, account: pinned }: Pinned, account: string) {
  if (!pinned || account === pinned.id) return;
  throw new CommandError(
    `${name} belongs to account ${pinned.id}, but these credentials are for ${account}: ` +
      `assume a role in ${pinned.id} first`,
  );
}
