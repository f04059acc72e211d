import { getSystemErrorMessage } from "node:util";
import { OrdersFileError } from "../orders-file/orders-file.ts";
import { Refusal } from "./refusal.ts";
import { printable, withoutKeys } from "./terminal-text.ts";

const badCredentials =
  /^(?:ExpiredToken|ExpiredTokenException|InvalidClientTokenId|UnrecognizedClientException|SignatureDoesNotMatch|InvalidSignatureException|IncompleteSignature|AuthFailure|RequestExpired)$/;
const unreachable = /^(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EPIPE)$/;

/**
 * What went wrong and what to do about it, in one line that a terminal shows as it is.
 * It never quotes what AWS says about credentials: a refused signature is explained with the signed headers.
 */
export function faultLine(error: unknown): string {
  return withoutKeys(printable(explain(error)));
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return `Unexpected failure: ${typeof error} thrown`;
  if (error instanceof Refusal || error instanceof OrdersFileError) return error.message;
  const { name } = error;
  const code = "code" in error ? String(error.code) : "";
  if (name === "CredentialsProviderError" || name === "TokenProviderError") {
    return `No usable AWS credentials (${firstLine(error)}). Sign in, or set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`;
  }
  if (badCredentials.test(name)) return `AWS does not accept these credentials (${name}). Sign in again`;
  if (/^AccessDenied/.test(name)) return `AWS denies this to these credentials: ${firstLine(error)}`;
  if (/^Region is missing/.test(error.message))
    return "No AWS region is chosen. Set AWS_REGION, or the profile's region";
  if (name === "ResourceNotFoundException") return "The table is not there (any more)";
  if (unreachable.test(code) || name === "TimeoutError") return `No answer from ${address(error)} (${code || name})`;
  if ("path" in error && "errno" in error) {
    return `${String(error.path)}: ${getSystemErrorMessage(Number(error.errno))}`;
  }
  return `Unexpected failure: ${name}: ${firstLine(error)}. NODE_DEBUG=admin shows where`;
}

function address(error: Error): string {
  if ("hostname" in error) return String(error.hostname);
  if ("address" in error) return `${String(error.address)}:${"port" in error ? String(error.port) : ""}`;
  return "the service";
}

function firstLine({ message }: Error): string {
  return message.split("\n", 1)[0] ?? "";
}
