import { createInterface } from "node:readline/promises";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { parseSecond } from "../../infra/admin/arguments.ts";
import { errorLine } from "../../infra/admin/errors.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { here } from "../helpers/admin/command-here.ts";

describe("parsing", () => {
  test.each([
    [["--help"], "Manages API keys and orders"],
    [["keys", "issue", "--help"], "--expires"],
    [["orders", "import", "--help"], "--env <name>"],
    [["orders", "ship", "--help"], "7  may have shipped or not"],
  ])("%j explains itself", async (args, text) => {
    expect(await here(args)).toEqual({ code: 0, stdout: expect.stringContaining(text), stderr: "" });
  });

  test.each([
    [["keys", "list", "--env", "qa"], "Allowed choices are staging, production"],
    [["keys", "list", "--env", "staging", "--local"], "cannot be used with"],
    [["keys", "--local"], "Usage: npm run admin -- keys"],
    [["orders", "nope\u001b[31m", "--local"], "unknown command 'nope\\u{1b}[31m'"],
    [["orders", "ship", "007"], "error: '007' is invalid for argument 'order-id'. Not a 64-bit integer"],
    [["orders", "export", "--local", "--table", "a b"], "Must be 3 to 255 of a-z, A-Z, 0-9, _, - and ."],
    [["keys", "list", "--local", "--table", "ab"], "Must be 3 to 255"],
    [["orders", "carry-over", "--local", "--from", "a/b"], "Must be 3 to 255"],
    [["orders", "carry-over", "--local", "--from", "abc", "--to", "a".repeat(256)], "Must be 3 to 255"],
    [["orders", "show", "9223372036854775808"], "Not a 64-bit integer"],
    [["keys", "issue", "--local"], "required option '--name <name>'"],
    [["keys", "issue", "--name", " "], "Must have 1 to 200 characters (code points)."],
    [["keys", "issue", "--name", "\u{1f600}".repeat(201)], "Must have 1 to 200 characters (code points)."],
    [["keys", "revoke", ""], "Must not be empty."],
    [["orders", "import", ""], "Must not be empty."],
    [["orders", "export", ""], "Must not be empty."],
    [["orders", "list", "--cancelled-by", ""], "Must not be empty."],
    [["orders", "carry-over", "--from", "old", "--not-by", ""], "Must not be empty."],
    [["orders", "list", "--status", "lost"], "Allowed choices are pending, shipped, cancelled, other."],
    [["orders", "ship", "1", "--file", "ids.txt"], "name either orders or a file of ids"],
    [["orders", "ship", "1", "--date", "yesterday"], "Not a date like 2027-12-31"],
    [["keys", "issue", "--name", "\u001b[31mred"], "Must be one line without control characters."],
    [["keys", "issue", "--name", "\u202etekram"], "Must be one line without control characters."],
    [["keys", "issue", "--name", "Acme", "--expires", "2026-02-30"], "Not a date like 2027-12-31"],
    [["keys", "issue", "--name", "Acme", "--expires", "2020-01-01"], "Must be in the future."],
    [
      ["keys", "issue", "--name", "Acme", "--expires", "9999-12-31T23:59:59-18:00"],
      "Must be in the year 9999 or earlier",
    ],
  ])("%j is wrong use", async (args, why) => {
    const { code, stdout, stderr } = await here(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(why);
    expect(stderr).not.toContain("\u001b");
  });

  test("takes the time of a restore to the second", () => {
    expect(parseSecond("2026-11-20T09:00:05.987+01:00")).toEqual(new Date("2026-11-20T08:00:05Z"));
    expect(parseSecond("2026-11-20")).toEqual(new Date("2026-11-20T00:00:00Z"));
    expect(() => parseSecond("20 November 2026")).toThrow("Not a date like 2027-12-31");
  });

  test("Ctrl-C at a prompt is an interruption", async () => {
    const input = new PassThrough();
    const terminal = createInterface({ input, output: new PassThrough(), terminal: true });
    const question = terminal.question("Key: ").catch(errorLine);
    input.write("\u0003");
    expect(await question).toBe("Interrupted");
  });

  test("a key in the place of a command is never repeated", async () => {
    const key = makeApiKey("pets_test");
    expect((await here(["keys", key])).stderr).toContain("unknown command 'pets_test_...'");
  });
});
