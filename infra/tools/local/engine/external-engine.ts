import { CommandError } from "../../terminal/errors.ts";

/**
 * The address of an engine that someone else started, without a trailing slash.
 *
 * @throws CommandError when it is an address in AWS, or none at all.
 */
export function checkEndpoint(endpoint: string): string {
  const { protocol = "", hostname = "", href = "" } = URL.parse(endpoint) ?? {};
  const isInAws = /(^|\.)(amazonaws\.com(\.cn)?|api\.aws|amazonaws\.eu)\.?$/i.test(
    hostname,
  );
  if (/^https?:$/.test(protocol) && !isInAws) return href.replace(/\/$/, "");
  throw new CommandError(
    "DYNAMODB_ENDPOINT must be the address of a local engine, like http://localhost:8000, " +
      `not ${endpoint}`,
  );
}

/** @throws CommandError when nothing responds at the address of an engine. */
export async function requireEngine(endpoint: string) {
  await fetch(endpoint, { signal: AbortSignal.timeout(5000) }).catch(() => {
    throw new CommandError(
      `No DynamoDB engine responds at DYNAMODB_ENDPOINT, ${endpoint}`,
    );
  });
}
