import { Option } from "commander";
import { CommandError } from "./errors.ts";

export const profileOption = new Option(
  "--profile <name>",
  "the AWS profile to work with",
).env("AWS_PROFILE");

/** An environment that may be pinned to an account. */
interface Pinned {
  name: string;
  account?: { id: string; region: string };
}

/** What a caller's variables and profile select, as the options of an SDK client. */
export function clientOptions({ account }: Pinned, profile?: string) {
  const { AWS_REGION, AWS_DEFAULT_REGION } = process.env;
  const region = account?.region || AWS_REGION || AWS_DEFAULT_REGION;
  return { ...(profile && { profile }), ...(region && { region }) };
}

/**
 * Resolves the credentials and the region of a client.
 *
 * @throws what the SDK throws, with the name of the profile.
 */
export async function resolveCaller<Credentials>(
  client: { config: { credentials(): Promise<Credentials>; region(): Promise<string> } },
  profile?: string,
) {
  // First, because the region may be missing with the profile.
  const credentials = await client.config.credentials().catch((error) => {
    throw Object.assign(error, profile && { profile });
  });
  return { credentials, region: await client.config.region() };
}

/** @throws CommandError when the environment is pinned to another account. */
export function requireAccount({ name, account: pinned }: Pinned, account: string) {
  if (!pinned || account === pinned.id) return;
  throw new CommandError(
    `${name} belongs to account ${pinned.id}, but these credentials are for ${account}: ` +
      `assume a role in ${pinned.id} first`,
  );
}
