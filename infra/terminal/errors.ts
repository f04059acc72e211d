import { debuglog, getSystemErrorMessage } from "node:util";
import { withoutKeys } from "../../shared/api-keys.ts";
import { printable } from "./printable.ts";

/**
 * A reason why a command can't do what it was asked to: one line for a person, or one for each
 * mistake in the settings. The exit code is then 1.
 */
export class CommandError extends Error {
  override name = "CommandError";
}

/** The error to throw: for a failure of the file system, one with the file's name. */
export function fileError(name: string, error: unknown): unknown {
  // The SDK's errors can have a number, too, and always have metadata.
  if (!(error instanceof Error && "errno" in error) || "$metadata" in error) return error;
  const isFolder = "code" in error && error.code === "EISDIR";
  const reason = isFolder ? " is a folder" : `: ${getSystemErrorMessage(Number(error.errno))}`;
  return new CommandError(`${name}${reason}`);
}

/** An error as Node.js and the SDK make them. */
type Failure = NodeJS.ErrnoException & { hostname?: string; address?: string; port?: number };

/**
 * The errors that operators meet, and the line about each. The first pattern counts that matches
 * the error's name, its code and the first line of its message. None quotes AWS on credentials: the
 * message about a rejected signature contains the signed headers.
 */
const explanations: [pattern: RegExp, explain: (reason: string, failure: Failure) => string][] = [
  [/^CommandError /, (_, { message }) => message],
  [/^AbortError /, () => "Interrupted"],
  [/^IncompleteResponseError /, (reason) => `${reason}. Run the command again`],
  // Sources of our own are named by their whole paths.
  [/ (ERR_)?MODULE_NOT_FOUND .*(node_modules|Cannot find package|module '[^/])/, notInstalled],
  [/ ERR_INVALID_PACKAGE_CONFIG | spawn \S+ ENOENT$/, notInstalled],
  // CDK's message around it names folders of its own.
  [/is needed by esbuild/, () => notInstalled("esbuild's program is missing")],
  [/^(CredentialsProviderError|TokenProviderError) /, noCredentials],
  [/^(ExpiredToken|RequestExpired|InvalidClientTokenId|UnrecognizedClient)/, rejectedCredentials],
  [/^(AuthFailure|SignatureDoesNotMatch|InvalidSignature|IncompleteSig)/, rejectedCredentials],
  [/^AccessDenied/, (reason) => `AWS denied access: ${reason}`],
  [/ Region is missing/, () => "No AWS region. Set AWS_REGION, or a region in your profile"],
  [/^ResourceNotFoundException /, noSuchResource],
  [/ ENOTFOUND /, (_, failure) => noResponse(failure, "; is the region right?")],
  [/^TimeoutError | (EAI_AGAIN|EHOSTUNREACH|ENETUNREACH) /, (_, failure) => noResponse(failure)],
  [/ (ECONNREFUSED|ECONNRESET|ETIMEDOUT|EPIPE) /, (_, failure) => noResponse(failure)],
  [/^\w+ E[A-Z]+ /, systemError],
];

/** The lines of a command's own error, or the one line about any other, safe to print. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error && /^(Command|OrdersFile)Error$/.test(error.name)))
    return errorLine(error);
  return withoutKeys(error.message.split("\n").map(printable).join("\n"));
}

/**
 * Says what went wrong and what to do about it, in one line that is safe to print. With
 * NODE_DEBUG=errors, it also prints the stack trace.
 */
export function errorLine(error: unknown): string {
  debuglog("errors")("%s", error instanceof Error ? error.stack : error);
  return withoutKeys(printable(lineAbout(error)));
}

function lineAbout(error: unknown): string {
  if (!(error instanceof Error)) return unexpected(`a thrown ${typeof error}`);
  const failure: Failure = error;
  if (isOutputError(error))
    return `Standard output can't be written: ${getSystemErrorMessage(failure.errno ?? 0)}`;
  const [reason = ""] = failure.message.split("\n", 1);
  const text = `${failure.name} ${failure.code ?? ""} ${reason}`;
  const explain = explanations.find(([pattern]) => pattern.test(text))?.[1];
  return explain?.(reason, failure) ?? unexpected(`${failure.name}: ${reason}`);
}

/** Whether standard output can't be written. Other errors of writes name a file, or are the SDK's. */
export function isOutputError(error: unknown): boolean {
  return Object(error).syscall === "write" && !("$metadata" in Object(error));
}

function noCredentials(reason: string): string {
  const { AWS_PROFILE: profile } = process.env;
  const none = profile
    ? `The AWS profile ${profile} does not exist or has no usable credentials`
    : "No usable AWS credentials";
  const remedy = "Sign in, or set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
  return `${none} (${reason}). ${remedy}`;
}

function rejectedCredentials(_: string, { name }: Failure): string {
  return `AWS rejected these credentials (${name}). Sign in again`;
}

function noSuchResource(reason: string): string {
  return `${reason}. Check its name, and whether its stack was deleted or replaced`;
}

function noResponse({ name, code, hostname, address, port }: Failure, question = ""): string {
  const host = hostname ?? (address === undefined ? "the service" : `${address}:${port}`);
  return `No response from ${host} (${code ?? name}${question})`;
}

function notInstalled(reason: string): string {
  return `The packages are not all installed (${reason}). Run: npm ci --include=dev`;
}

function systemError(reason: string, { name, path, syscall, errno = 0 }: Failure): string {
  if (path === undefined) return unexpected(`${name}: ${reason}`);
  const what = `${path}: ${getSystemErrorMessage(errno)}`;
  return syscall === "mkdtemp" ? `${what}. Set TMPDIR to a folder that can be written` : what;
}

function unexpected(what: string): string {
  return `Unexpected error: ${what}. NODE_DEBUG=errors prints the stack trace`;
}
