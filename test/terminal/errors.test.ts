import { expect, test } from "vitest";
import { CommandError, errorText } from "../../infra/terminal/errors.ts";
import { issuedKeys } from "../helpers/issued-keys.ts";

const named = (name: string, message: string, more: object = {}) =>
  Object.assign(new Error(message), { name, ...more });
const system = (code: string, more: object) => named("Error", "x", { code, ...more });

// AWS's message quotes the signed headers.
const signature =
  "The request signature we calculated does not match. The Canonical String should have been POST x-amz-security-token:secret\n" +
  "host:dynamodb.eu-central-1.amazonaws.com";

const unexpected = (what: string) =>
  `Unexpected error: ${what}. NODE_DEBUG=errors prints the stack trace`;

test.each<[error: unknown, text: string]>([
  [new CommandError("No order has the id \u001b1"), "No order has the id \\u{1b}1"],
  [new CommandError("line 1\nline 2\u0007"), "line 1\nline 2\\u{7}"],
  [named("AbortError", "x"), "Interrupted"],
  [
    named("IncompleteResponseError", "It was empty\nx"),
    "It was empty. Run the command again",
  ],
  [
    named("TokenProviderError", "The SSO session is over\nx"),
    "No usable AWS credentials (The SSO session is over). " +
      "Sign in, or set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
  ],
  ...["ExpiredTokenException", "SignatureDoesNotMatch"].map((name): [Error, string] => [
    named(name, signature),
    `AWS rejected these credentials (${name}). Sign in again`,
  ]),
  [
    named("AccessDeniedException", "x may not Scan\nx"),
    "AWS denied access: x may not Scan",
  ],
  [named("AccessDenied", "x may not ask"), "AWS denied access: x may not ask"],
  [
    named("Error", "Region is missing"),
    "No AWS region. Set AWS_REGION, or a region in your profile",
  ],
  [
    named("ResourceNotFoundException", "There is no table x"),
    "There is no table x. Check its name, and whether its stack was deleted or replaced",
  ],
  [
    system("ENOTFOUND", { hostname: "h" }),
    "No response from h (ENOTFOUND; is the region right?)",
  ],
  [system("EAI_AGAIN", { hostname: "h" }), "No response from h (EAI_AGAIN)"],
  [
    system("ECONNREFUSED", { address: "::1", port: 1 }),
    "No response from ::1:1 (ECONNREFUSED)",
  ],
  [named("TimeoutError", "x"), "No response from the service (TimeoutError)"],
  [system("ENOENT", { errno: -2, path: "a\u001b" }), "a\\u{1b}: no such file or directory"],
  [
    system("ENOENT", { errno: -2, path: "/t/x", syscall: "mkdtemp" }),
    "/t/x: no such file or directory. Set TMPDIR to a folder that can be written",
  ],
  [
    system("ENOSPC", { errno: -28, syscall: "write" }),
    "Standard output can't be written: no space left on device",
  ],
  ...[
    ["ERR_MODULE_NOT_FOUND", "Cannot find package 'zod' imported from /p/infra/a.ts"],
    ["ERR_MODULE_NOT_FOUND", "Cannot find module '/p/node_modules/zod/index.js'"],
    ["MODULE_NOT_FOUND", "Cannot find module '@smithy/core'\nRequire stack:"],
    ["ENOENT", "spawn cdk ENOENT"],
  ].map(([code, message = ""]): [Error, string] => [
    named("Error", message, { code }),
    `The packages are not all installed (${message.split("\n")[0]}). Run: npm ci --include=dev`,
  ]),
  // A source of our own.
  [
    named("Error", "Cannot find module '/p/infra/a.ts'", { code: "ERR_MODULE_NOT_FOUND" }),
    unexpected("Error: Cannot find module '/p/infra/a.ts'"),
  ],
  [named("TypeError", "x\ny"), unexpected("TypeError: x")],
  ["secret", unexpected("a thrown string")],
])("%s: says what is wrong and what to do: %s", (error, text) => {
  expect(errorText(error)).toBe(text);
});

test.each(Object.values(issuedKeys))(
  "an error's text cuts a key short: $hash",
  ({ key }) => {
    const start = key.slice(0, "pets_live_".length);
    for (const error of [
      new CommandError(`No key ${key}`),
      new Error(`${key} is no table`),
    ]) {
      expect(errorText(error)).toContain(`${start}...`);
      expect(errorText(error)).not.toContain(key.slice(0, 20));
    }
  },
);
