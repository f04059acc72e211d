import { expect, test } from "vitest";
import {
  CommandError,
  errorText,
  fileError,
} from "../../../infra/tools/terminal/errors.ts";
import { issuedKeys } from "../../helpers/issued-keys.ts";

const named = (name: string, message: string, more: object = {}) =>
  Object.assign(new Error(message), { name, ...more });
const system = (code: string, more: object) => named("Error", "x", { code, ...more });

// AWS's message quotes the signed headers.
const signature = "The Canonical String should have been x-amz-security-token:secret";
const notInstalled = "The packages are not all installed";
const install = "Run: npm ci";
const trace = "NODE_DEBUG=errors prints the stack trace";

test.each([
  ["line 1\nline 2\\u{7}", new CommandError("line 1\nline 2\u0007")],
  ["Interrupted", named("AbortError", "x")],
  ["Broken:\n  a", named("ValidationFailedWithErrors", "Broken:\n  a")],
  ["Bad (HTTP 418)", named("LostCallError", "Bad (HTTP 418)\nx")],
  [
    "No whole response from the service (EPROTO)",
    named("LostCallError", "x", { cause: system("EPROTO", {}) }),
  ],
  [
    "No usable AWS credentials (The SSO session is over). " +
      "Sign in, or set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    named("TokenProviderError", "The SSO session is over\nx"),
  ],
  ...["ExpiredTokenException", "RequestExpired", "SignatureDoesNotMatch", "AuthFailure"]
    .concat("InvalidClientTokenId", "UnrecognizedClientException")
    .map((name) => [
      `AWS rejected these credentials (${name}). Sign in again`,
      named(name, signature),
    ]),
  [
    "AWS denied access: x may not Scan",
    named("AccessDeniedException", "x may not Scan\nx"),
  ],
  [
    "No AWS region. Set AWS_REGION, or a region in your profile",
    named("Error", "Region is missing"),
  ],
  [
    "No table x. Check its name, and whether its stack was deleted or replaced",
    named("ResourceNotFoundException", "No table x"),
  ],
  [
    "No whole response from h (ENOTFOUND; is the region right?)",
    system("ENOTFOUND", { hostname: "h" }),
  ],
  ...["EAI_AGAIN", "ECONNRESET", "EHOSTUNREACH", "ENETUNREACH", "EPIPE", "ETIMEDOUT"].map(
    (code) => [
      `No whole response from h (${code})`,
      // The SDK's own write, to no file.
      fileError(
        "f",
        system(code, { hostname: "h", errno: -1, syscall: "write", $metadata: {} }),
      ),
    ],
  ),
  [
    "No whole response from ::1:1 (ECONNREFUSED)",
    system("ECONNREFUSED", { address: "::1", port: 1 }),
  ],
  ["No whole response from the service (TimeoutError)", named("TimeoutError", "x")],
  [
    "a\\u{1b}: no such file or directory",
    system("ENOENT", { errno: -2, path: "a\u001b" }),
  ],
  [
    "/t: no such file or directory. Set TMPDIR to a folder that can be written",
    system("ENOENT", { errno: -2, path: "/t", syscall: "mkdtemp" }),
  ],
  [
    "A temporary file can't be written: disk is full. Set TMPDIR to a folder with more space",
    system("ERR_SQLITE_ERROR", { message: "disk is full" }),
  ],
  [
    "Standard output can't be written: no space left on device",
    system("ENOSPC", { errno: -28, syscall: "write" }),
  ],
  [
    `${notInstalled} (Cannot find module '@smithy/core'). ${install}`,
    named("Error", "Cannot find module '@smithy/core'\nx", { code: "MODULE_NOT_FOUND" }),
  ],
  [
    `${notInstalled} (spawn cdk ENOENT). ${install}`,
    named("Error", "spawn cdk ENOENT", { code: "ENOENT" }),
  ],
  [`${notInstalled} (x). ${install}`, system("ERR_INVALID_PACKAGE_CONFIG", {})],
  [`Unexpected error: TypeError: x. ${trace}`, named("TypeError", "x\ny")],
  [`Unexpected error: Error: x. ${trace}`, named("Error", "x", { path: "/t" })],
  [`Unexpected error: Error: x. ${trace}`, system("ENOENT", { errno: -2 })],
  [
    `${notInstalled} (esbuild's program is missing). ${install}`,
    named("Error", "The package x is needed by esbuild, in /a/folder"),
  ],
  [`Unexpected error: a thrown string. ${trace}`, "secret"],
])("an error becomes a line about it, and what to do: %s", (text, error) => {
  expect(errorText(error)).toBe(text);
});

test("an error's text cuts keys short", () => {
  for (const { key } of Object.values(issuedKeys))
    for (const error of [
      new CommandError(`No key ${key}`),
      new Error(`${key} is no table`),
    ]) {
      expect(errorText(error)).toContain(`${key.slice(0, "pets_live_".length)}...`);
      expect(errorText(error)).not.toContain(key.slice(0, 20));
    }
});
