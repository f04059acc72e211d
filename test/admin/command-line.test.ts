import { execFile } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { PassThrough } from "node:stream";
import { promisify } from "node:util";
import { CommanderError } from "commander";
import { describe, expect, test } from "vitest";
import { createProgram } from "../../infra/admin/command.ts";
import { errorLine } from "../../infra/admin/errors.ts";
import { addKeyCommands } from "../../infra/admin/key-commands.ts";
import { addOrderCommands } from "../../infra/admin/order-commands.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { adminCommand, root } from "../helpers/admin/admin-command.ts";
import { createOperator } from "../helpers/admin/admin-process.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";
import { machineHas } from "../helpers/machine.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);
await operator.pointTo(tables);
const local = (args: string[], options?: { input: string }) => operator.run([...args, "--local"], options);

/** Parses a command line without running its command. Returns what is printed and the exit code. */
async function parse(args: string[]): Promise<{ code: number | undefined; stdout: string; stderr: string }> {
  const printed = { stdout: "", stderr: "" };
  const program = createProgram().configureOutput({
    writeOut: (text) => {
      printed.stdout += text;
    },
    writeErr: (text) => {
      printed.stderr += text;
    },
  });
  addKeyCommands(program);
  addOrderCommands(program);
  const error: unknown = await program.parseAsync(args, { from: "user" }).catch((error: unknown) => error);
  return { code: error instanceof CommanderError ? error.exitCode : undefined, ...printed };
}

describe("as a process", () => {
  const hasFullDevice = machineHas("/dev/full", "a result that can't be written");
  test.runIf(hasFullDevice)("says when its result can't be written", async () => {
    const command = ["-c", 'exec "$0" "$@" > /dev/full', process.execPath, ...(await adminCommand())];
    const env = { ...process.env, LOCAL_STACK_FILE: join(operator.folder, "stack.json") };
    const listing = promisify(execFile)("sh", [...command, "keys", "list", "--local"], { cwd: root, env });
    await expect(listing).rejects.toMatchObject({
      code: 1,
      stderr: "Standard output can't be written: no space left on device\n",
    });
  });

  test("every keys command prints its result on stdout, and the key alone when it issues one", async () => {
    // As long as a name may be.
    const client = `Acme \u{1f469}\u200d\u{1f467}${"\u{1f600}".repeat(187)} shop`;
    const issued = await local(["keys", "issue", "--name", ` ${client} `, "--expires", "9999-12-31"]);
    const key = issued.stdout.trimEnd();
    expect(issued).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^pets_test_\w{49}\n$/),
      stderr: expect.stringMatching(/^Issued key_\w+ to Acme \S+ shop; it expires at 9999-12-31T23:59:59Z\..*\n$/),
    });
    expect(issued.stderr).not.toContain(key);

    const listed = await local(["keys", "list", "--json"]);
    expect(listed).toMatchObject({ code: 0, stderr: "" });
    const [{ keyId, name }] = JSON.parse(listed.stdout);
    expect(name).toBe(client);

    expect(await local(["keys", "check"], { input: `  ${key}\r\n` })).toEqual({
      code: 0,
      stdout: `Accepted until 9999-12-31T23:59:59Z: ${keyId} (${client})\n`,
      stderr: "",
    });
    expect(await local(["keys", "revoke", keyId])).toMatchObject({ code: 0, stderr: "" });
    expect(await local(["keys", "check"], { input: key })).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^Rejected: revoked at /),
    });
    expect(await local(["keys", "revoke", keyId])).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^Key key_\w+ was already revoked at .*Z\n$/),
    });
  });

  test("orders ship and orders show print their result on stdout, safe for a terminal", async () => {
    await tables.putOrder({ id: { N: "7" }, status: { S: "held\u001b[2J" } });
    await tables.putOrder({ id: { N: "-1" }, status: { S: "pending" } });
    const { code, stdout, stderr } = await local(["orders", "ship", "-1", "7"]);
    expect({ code, stderr }).toEqual({ code: 6, stderr: "" });
    expect(stdout.trimEnd().split("\n").sort()).toEqual([
      expect.stringMatching(/^Order -1 has shipped: \d{4}-.*Z$/),
      "Order 7 is not pending and can't ship: held\\u{1b}[2J",
    ]);
    expect(await local(["orders", "show", "7", "--json"])).toEqual({
      code: 0,
      stdout: '{"id":7,"status":"held\\u001b[2J"}\n',
      stderr: "",
    });
  });

  test("wrong use exits with 2, help with 0", async () => {
    expect(await operator.run(["keys", "list"])).toEqual({
      code: 2,
      stdout: "",
      stderr: "error: choose one of --env staging, --env production and --local\n(see --help)\n",
    });
    expect(await operator.run(["--help"])).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("parsing", () => {
  test.each([
    [["--help"], "Manages API keys and orders"],
    [["keys", "issue", "--help"], "--expires"],
    [["orders", "import", "--help"], "--local"],
  ])("%j explains itself", async (args, text) => {
    expect(await parse(args)).toEqual({ code: 0, stdout: expect.stringContaining(text), stderr: "" });
  });

  test.each([
    [["keys", "list", "--env", "qa"], "Allowed choices are staging, production"],
    [["keys", "list", "--env", "staging", "--local"], "cannot be used with"],
    [["keys", "--local"], "Usage: admin keys"],
    [["orders", "nope\u001b[31m", "--local"], "unknown command 'nope\\u{1b}[31m'"],
    [["orders", "ship", "007"], "Not a 64-bit integer"],
    [["orders", "show", "9223372036854775808"], "Not a 64-bit integer"],
    [["keys", "issue", "--local"], "required option '--name <name>'"],
    [["keys", "issue", "--name", " "], "Must have 1 to 200 characters (code points)."],
    [["keys", "issue", "--name", "\u{1f600}".repeat(201)], "Must have 1 to 200 characters (code points)."],
    [["keys", "revoke", ""], "Must not be empty."],
    [["orders", "import", ""], "Must not be empty."],
    [["orders", "export", ""], "Must not be empty."],
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
    const { code, stdout, stderr } = await parse(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(why);
    expect(stderr).not.toContain("\u001b");
  });

  test("Ctrl-C at a prompt is an interruption", async () => {
    const input = new PassThrough();
    const terminal = createInterface({ input, output: new PassThrough(), terminal: true });
    const question = terminal.question("Key: ").catch(errorLine);
    input.write("\u0003");
    expect(await question).toBe("Interrupted");
  });

  test("a key in the place of an id is never repeated", async () => {
    const key = makeApiKey("pets_test");
    const { code, stderr } = await local(["keys", "revoke", key]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: "That is a key, not a key id, and is now in your shell history. `keys check` prints its id\n",
    });
    expect((await local(["keys", "revoke", `${key}x`])).stderr).toBe("No key has the id pets_test_...\n");
    expect((await parse(["keys", key])).stderr).toContain("unknown command 'pets_test_...'");
  });
});
