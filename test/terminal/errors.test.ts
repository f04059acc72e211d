import { describe, expect, test } from "vitest";
import { CommandError, errorLine } from "../../infra/terminal/errors.ts";
import { issuedKeys } from "../helpers/issued-keys.ts";

const named = (name: string, message: string, more: object = {}) =>
  Object.assign(new Error(message), { name, ...more });

/** AWS's message about a rejected signature, which quotes the signed headers. */
const signature =
  "The request signature we calculated does not match. The Canonical String should have been POST x-amz-security-token:secret\n" +
  "host:dynamodb.eu-central-1.amazonaws.com";

describe("an error in one line", () => {
  test.each(["ExpiredTokenException", "SignatureDoesNotMatch"])(
    "never quotes AWS on credentials: %s",
    (name) => {
      expect(errorLine(named(name, signature))).toBe(
        `AWS rejected these credentials (${name}). Sign in again`,
      );
    },
  );

  test.each(Object.values(issuedKeys))("cuts a key short: $hash", ({ key }) => {
    const start = key.slice(0, "pets_live_".length);
    for (const error of [
      new CommandError(`No key has the id ${key}`),
      new Error(`${key} is not a table`),
    ]) {
      expect(errorLine(error)).toContain(`${start}...`);
      expect(errorLine(error)).not.toContain(key.slice(0, 20));
    }
  });

  test("says how to sign in", () => {
    expect(errorLine(named("TokenProviderError", "The SSO session is over\nmore"))).toBe(
      "No usable AWS credentials (The SSO session is over). " +
        "Sign in, or set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    );
  });

  const rows: [what: string, error: unknown, line: string][] = [
    ["a command's own message", new CommandError("No order has the id 1"), "No order has the id 1"],
    ["a message of several lines", new CommandError("one\ntwo"), "one\\u{a}two"],
    [
      "a lost response",
      named("IncompleteResponseError", "It was empty\nmore"),
      "It was empty. Run the command again",
    ],
    ["an interruption", named("AbortError", "x"), "Interrupted"],
    [
      "an action that AWS denies",
      named("AccessDeniedException", "x may not Scan\nmore"),
      "AWS denied access: x may not Scan",
    ],
    [
      "an action that CloudFormation denies",
      named("AccessDenied", "x may not ask"),
      "AWS denied access: x may not ask",
    ],
    [
      "a table that does not exist",
      named("ResourceNotFoundException", "There is no table x"),
      "There is no table x. Check its name, and whether its stack was deleted or replaced",
    ],
    [
      "an unknown host",
      named("Error", "x", { code: "ENOTFOUND", hostname: "h" }),
      "No response from h (ENOTFOUND; is the region right?)",
    ],
    [
      "a network that is down",
      named("Error", "x", { code: "EAI_AGAIN", hostname: "h" }),
      "No response from h (EAI_AGAIN)",
    ],
    [
      "a port that nothing listens on",
      named("Error", "x", { code: "ECONNREFUSED", address: "::1", port: 1 }),
      "No response from ::1:1 (ECONNREFUSED)",
    ],
    ["a timeout", named("TimeoutError", "x"), "No response from the service (TimeoutError)"],
    [
      "a file that does not exist",
      named("Error", "x", { errno: -2, code: "ENOENT", path: "a\u001b" }),
      "a\\u{1b}: no such file or directory",
    ],
    [
      "a temporary folder that can't be written",
      named("Error", "x", { errno: -2, code: "ENOENT", path: "/t/x", syscall: "mkdtemp" }),
      "/t/x: no such file or directory. Set TMPDIR to a folder that can be written",
    ],
    ...[
      ["ERR_MODULE_NOT_FOUND", "Cannot find package 'zod' imported from /p/infra/a.ts"],
      ["ERR_MODULE_NOT_FOUND", "Cannot find module '/p/node_modules/zod/index.js'"],
      ["MODULE_NOT_FOUND", "Cannot find module '@smithy/core'\nRequire stack:"],
      ["ENOENT", "spawn cdk ENOENT"],
    ].map(([code, message = ""]): [string, Error, string] => [
      `a missing package: ${message}`,
      named("Error", message, { code }),
      `The packages are not all installed (${message.split("\n")[0]}). Run: npm ci --include=dev`,
    ]),
    [
      "a missing source",
      named("Error", "Cannot find module '/p/infra/a.ts'", { code: "ERR_MODULE_NOT_FOUND" }),
      "Unexpected error: Error: Cannot find module '/p/infra/a.ts'. " +
        "NODE_DEBUG=errors prints the stack trace",
    ],
    [
      "a bug",
      named("TypeError", "x\ny"),
      "Unexpected error: TypeError: x. NODE_DEBUG=errors prints the stack trace",
    ],
    [
      "a thrown value that is not an Error",
      "secret",
      "Unexpected error: a thrown string. NODE_DEBUG=errors prints the stack trace",
    ],
  ];

  test.each(rows)("says what is wrong: %s", (_what, error, line) => {
    expect(errorLine(error)).toBe(line);
  });

  // Commands that stop midway add a sentence: ". The rest is not carried over yet."
  test.each(rows)("ends without a full stop: %s", (_what, error) => {
    expect(errorLine(error)).not.toMatch(/[.?!]$/);
  });
});
