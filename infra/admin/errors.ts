import { getSystemErrorMessage } from "node:util";
import { withoutKeys } from "../../shared/api-keys.ts";
import { OrdersFileError } from "../orders-file/orders-file.ts";
import { printable } from "../terminal/printable.ts";

/**
 * A reason why a command can't do what it was asked to, in one line for the operator. The exit code
 * is then 1.
 */
export class CommandError extends Error {
  override name = "CommandError";
}

const badCredentials =
  /^(?:ExpiredToken|ExpiredTokenException|InvalidClientTokenId|UnrecognizedClientException|SignatureDoesNotMatch|InvalidSignatureException|IncompleteSignature|AuthFailure|RequestExpired)$/;
const unreachable =
  /^(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EPIPE)$/;

/**
 * Says what went wrong and what to do about it, in one line that is safe to print. It never quotes
 * AWS on credentials: the message about a rejected signature contains the signed headers.
 */
export function errorLine(error: unknown): string {
  return withoutKeys(printable(explain(error)));
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return `Unexpected error: a thrown ${typeof error}`;
  if (error instanceof CommandError || error instanceof OrdersFileError) return error.message;
  const system: NodeJS.ErrnoException & { hostname?: string; address?: string; port?: number } =
    error;
  const { name, code = "", path, errno, address, port } = system;
  const [reason = ""] = error.message.split("\n", 1);
  if (name === "IncompleteResponseError") return `${reason}. Run the command again`;
  if (name === "CredentialsProviderError" || name === "TokenProviderError") {
    const { AWS_PROFILE: profile } = process.env;
    const none = profile
      ? `The AWS profile ${profile} does not exist or has no usable credentials`
      : "No usable AWS credentials";
    return `${none} (${reason}). Sign in, or set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`;
  }
  if (name === "AbortError") return "Interrupted";
  if (badCredentials.test(name)) return `AWS rejected these credentials (${name}). Sign in again`;
  if (/^AccessDenied/.test(name)) return `AWS denied access: ${reason}`;
  if (/^Region is missing/.test(reason))
    return "No AWS region. Set AWS_REGION, or a region in your profile";
  if (name === "PointInTimeRecoveryUnavailableException")
    return `DynamoDB can't restore that: ${reason}`;
  if (name === "ResourceNotFoundException") {
    return `${reason}. Check its name, and whether its stack was deleted or replaced`;
  }
  if (unreachable.test(code) || name === "TimeoutError") {
    const { hostname = address === undefined ? "the service" : `${address}:${port}` } = system;
    return `No response from ${hostname} (${code || name})`;
  }
  if (path !== undefined && errno !== undefined) return `${path}: ${getSystemErrorMessage(errno)}`;
  return `Unexpected error: ${name}: ${reason}. NODE_DEBUG=admin prints the stack trace`;
}
