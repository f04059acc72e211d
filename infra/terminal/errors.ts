import { debuglog, getSystemErrorMessage } from "node:util";
import { withoutKeys } from "../../shared/api-keys.ts";
import { printable } from "./printable.ts";

/**
 * A reason why a command can't do what it was asked to, in one line for the operator. The exit code
 * is then 1.
 */
export class CommandError extends Error {
  override name = "CommandError";
}

/** An error as Node.js and the SDK make them. */
type Failure = NodeJS.ErrnoException & { hostname?: string; address?: string; port?: number };

/** An error that operators meet, and its line for them. */
interface Explanation {
  /** Matched against the error's name, its code and the first line of its message. */
  pattern: RegExp;
  says: (failure: Failure, reason: string) => string;
}

/**
 * The errors that operators meet, and what to do about each; the first that matches counts. None
 * quotes AWS on credentials: the message about a rejected signature contains the signed headers.
 */
const explanations: Explanation[] = [
  { pattern: /^(CommandError|OrdersFileError) /, says: ({ message }) => message },
  {
    pattern: /^IncompleteResponseError /,
    says: (_, reason) => `${reason}. Run the command again`,
  },
  { pattern: /^(CredentialsProviderError|TokenProviderError) /, says: noCredentials },
  { pattern: /^AbortError /, says: () => "Interrupted" },
  {
    pattern: anyOf(
      /^(ExpiredToken|ExpiredTokenException|RequestExpired) /,
      /^(InvalidClientTokenId|UnrecognizedClientException|AuthFailure) /,
      /^(SignatureDoesNotMatch|InvalidSignatureException|IncompleteSignature) /,
    ),
    says: ({ name }) => `AWS rejected these credentials (${name}). Sign in again`,
  },
  { pattern: /^AccessDenied/, says: (_, reason) => `AWS denied access: ${reason}` },
  {
    pattern: / Region is missing/,
    says: () => "No AWS region. Set AWS_REGION, or a region in your profile",
  },
  {
    pattern: /^PointInTimeRecoveryUnavailableException /,
    says: (_, reason) => `DynamoDB can't restore that: ${reason}`,
  },
  {
    pattern: /^ResourceNotFoundException /,
    says: (_, reason) => `${reason}. Check its name, and whether its stack was deleted or replaced`,
  },
  {
    pattern: anyOf(
      /^TimeoutError /,
      / (ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH) /,
      / (ECONNREFUSED|ECONNRESET|ETIMEDOUT|EPIPE) /,
    ),
    says: noResponse,
  },
  {
    pattern: /^\w+ E[A-Z]+ /,
    says: ({ name, path, errno = 0 }, reason) =>
      path === undefined
        ? unexpected(`${name}: ${reason}`)
        : `${path}: ${getSystemErrorMessage(errno)}`,
  },
];

/**
 * Says what went wrong and what to do about it, in one line that is safe to print. With
 * NODE_DEBUG=errors, it also prints the stack trace.
 */
export function errorLine(error: unknown): string {
  debuglog("errors")("%s", error instanceof Error ? error.stack : error);
  return withoutKeys(printable(explain(error)));
}

function anyOf(...patterns: RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join("|"));
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return unexpected(`a thrown ${typeof error}`);
  const failure: Failure = error;
  const [reason = ""] = failure.message.split("\n", 1);
  const text = `${failure.name} ${failure.code ?? ""} ${reason}`;
  const known = explanations.find(({ pattern }) => pattern.test(text));
  return known?.says(failure, reason) ?? unexpected(`${failure.name}: ${reason}`);
}

function noCredentials(_: Failure, reason: string): string {
  const { AWS_PROFILE: profile } = process.env;
  const none = profile
    ? `The AWS profile ${profile} does not exist or has no usable credentials`
    : "No usable AWS credentials";
  const remedy = "Sign in, or set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
  return `${none} (${reason}). ${remedy}`;
}

function noResponse({ name, code, hostname, address, port }: Failure): string {
  const host = hostname ?? (address === undefined ? "the service" : `${address}:${port}`);
  return `No response from ${host} (${code ?? name})`;
}

function unexpected(what: string): string {
  return `Unexpected error: ${what}. NODE_DEBUG=errors prints the stack trace`;
}
