import { debuglog, getSystemErrorMessage } from "node:util";
import { withoutSecrets } from "../../../shared/secrets.ts";
import { printableLines } from "./text.ts";

/**
 * A reason why a command can't do what it was asked to: one line for a person, or one for each
 * mistake in the settings or a file.
 */
export class CommandError extends Error {
  override name = "CommandError";
}

/** An error as Node.js and the SDK make them. */
export interface Failure extends NodeJS.ErrnoException {
  hostname?: string;
  address?: string;
  port?: number;
  /** Of the SDK's errors. They can have a number, too. */
  $metadata?: object;
}

/** Whether a thrown value is an error, whose properties are then known. */
export function isFailure(error: unknown): error is Failure {
  return error instanceof Error;
}

/** The error to throw: for a failure of the file system, one with the file's name. */
export function fileError(name: string, error: unknown): unknown {
  if (!isFailure(error) || error.errno === undefined || error.$metadata) return error;
  const { errno, code } = error;
  const reason = code === "EISDIR" ? " is a folder" : `: ${getSystemErrorMessage(errno)}`;
  return new CommandError(`${name}${reason}`);
}

/**
 * The errors that operators meet, and the line about each. The first pattern counts that matches
 * the error's name, its code and the first line of its message.
 */
const explanations: [
  pattern: RegExp,
  explain: (reason: string, failure: Failure) => string,
][] = [
  [/^AbortError /, () => "Interrupted"],
  [/^LostCallError .* \(HTTP /, (reason) => reason],
  [/^LostCallError /, (_, { cause }) => noResponse("", isFailure(cause) ? cause : {})],
  [/MODULE_NOT_FOUND | ERR_INVALID_PACKAGE_CONFIG | spawn \S+ ENOENT$/, notInstalled],
  // CDK's, with a line for each part of the stack that breaks a rule.
  [/^ValidationFailedWithErrors /, (_, { message }) => message],
  // CDK's message around it names folders of its own.
  [/is needed by esbuild/, () => notInstalled("esbuild's program is missing")],
  [/^(CredentialsProviderError|TokenProviderError) /, noCredentials],
  [
    /^(\w*(Expired|Signature)|AuthFailure|InvalidClientTokenId|UnrecognizedClient)/,
    (_, { name }) => `AWS rejected these credentials (${name}). Sign in again`,
  ],
  [/^AccessDenied/, (reason) => `AWS denied access: ${reason}`],
  [
    / Region is missing/,
    () => "No AWS region. Set AWS_REGION, or a region in your profile",
  ],
  [
    /^ResourceNotFoundException /,
    (reason) =>
      `${reason}. Check its name, and whether its stack was deleted or replaced`,
  ],
  [
    / ERR_SQLITE_ERROR /,
    (reason) =>
      `A temporary file can't be written: ${reason}. Set TMPDIR to a folder with more space`,
  ],
  [
    /^TimeoutError | E(AI_AGAIN|CONN(REFUSED|RESET)|(HOST|NET)UNREACH|NOTFOUND|PIPE|TIMEDOUT) /,
    noResponse,
  ],
];

/**
 * Says what went wrong and what to do about it, safe to print: the lines of a command's own error,
 * or one line about any other. With NODE_DEBUG=errors, it also prints the stack trace.
 */
export function errorText(error: unknown): string {
  debuglog("errors")("%s", error instanceof Error ? error.stack : error);
  return withoutSecrets(printableLines(linesAbout(error)));
}

function linesAbout(error: unknown) {
  if (!isFailure(error)) return unexpected(`a thrown ${typeof error}`);
  if (error instanceof CommandError) return error.message;
  // A source that can't be parsed: its place comes first.
  const [place = ""] = `${error.stack}`.split("\n    at ", 1);
  if (error instanceof SyntaxError && !/^SyntaxError|node_modules/.test(place))
    return place;
  const { name, message, code = "", errno, path, syscall } = error;
  if (isOutputError(error))
    return `Standard output can't be written: ${getSystemErrorMessage(errno ?? 0)}`;
  const [reason = ""] = message.split("\n", 1);
  const text = `${name} ${code} ${reason}`;
  const explain = explanations.find(([pattern]) => pattern.test(text))?.[1];
  if (explain) return explain(reason, error);
  if (errno === undefined || path === undefined) return unexpected(`${name}: ${reason}`);
  const line = `${path}: ${getSystemErrorMessage(errno)}`;
  return syscall === "mkdtemp"
    ? `${line}. Set TMPDIR to a folder that can be written`
    : line;
}

/** Whether standard output can't be written. Other errors of writes name a file, or are the SDK's. */
export function isOutputError(error: unknown): boolean {
  return isFailure(error) && error.syscall === "write" && !error.$metadata;
}

function noCredentials(reason: string) {
  const profile = process.env["AWS_PROFILE"];
  const none = profile
    ? `The AWS profile ${profile} does not exist or has no usable credentials`
    : "No usable AWS credentials";
  const remedy =
    "Sign in, or set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
  return `${none} (${reason}). ${remedy}`;
}

function noResponse(_: string, failure: Partial<Failure>) {
  const { name, code, hostname, address, port } = failure;
  const host = hostname ?? (address === undefined ? "the service" : `${address}:${port}`);
  const question = code === "ENOTFOUND" ? "; is the region right?" : "";
  return `No whole response from ${host} (${code ?? name}${question})`;
}

function notInstalled(reason: string) {
  return `The packages are not all installed (${reason}). Run: npm ci`;
}

function unexpected(what: string) {
  return `Unexpected error: ${what}. NODE_DEBUG=errors prints the stack trace`;
}
