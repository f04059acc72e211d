import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseTime } from "../../infra/admin/arguments.ts";
import { environments } from "../../infra/environments.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import type { OrderItem } from "../../shared/order.ts";
import { adminCommand, root } from "../helpers/admin-command.ts";
import { machineHas } from "../helpers/machine.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { createOperator } from "./admin-process.ts";
import { runCommand, runHere } from "./command-here.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);
await operator.pointTo(tables);
const runProcess = (args: string[], options?: { input: string }) =>
  operator.run([...args, "--local"], options);
const runLocally = (args: string[], options?: { input: string }) => runHere(tables, args, options);

describe("npm run admin", () => {
  const env = { ...process.env, LOCAL_STACK_FILE: join(operator.folder, "stack.json") };
  const issue = ["keys", "issue", "--name", "Acme"];
  const full = "Standard output can't be written: no space left on device";
  const closed = "Standard output can't be written: broken pipe";
  const toRevoke = String.raw`\. Revoke key_[0-9a-f]{16}: its key is lost`;
  const hasFullDevice = machineHas("/dev/full", "a result that can't be written");

  test.runIf(hasFullDevice).each<[args: string[], stderr: string]>([
    [["keys", "list"], full],
    [["orders", "export"], full],
    [issue, full + toRevoke],
    [["keys", "revoke", "key_0123456789abcdef"], `${full}. Revoked key_0123456789abcdef .*`],
    [["orders", "ship", "1"], `${full}. Ship them again to see what has shipped`],
  ])("says when its result can't be written: %j", async (args, stderr) => {
    await tables.putOrder({ id: { N: "1" }, status: { S: "pending" } });
    await tables.putKey({ keyId: "key_0123456789abcdef" });
    const toFullDevice = ["-c", 'exec "$0" "$@" > /dev/full', process.execPath];
    const command = [...toFullDevice, ...(await adminCommand()), ...args, "--local"];
    await expect(promisify(execFile)("sh", command, { cwd: root, env })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(new RegExp(`^${stderr}\n$`)),
    });
  });

  test.each<[what: string, args: string[], stderr: string]>([
    ["ends quietly", ["keys", "list"], ""],
    ["says which key to revoke", issue, `${closed}${toRevoke}\n`],
  ])("%s when no one reads its result any more", async (_, args, expected) => {
    const command = [...(await adminCommand()), ...args, "--local"];
    const child = spawn(process.execPath, command, { cwd: root, env });
    child.stdout.destroy();
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`^${expected}$`));
  });

  describe("for keys", () => {
    // As long as a name may be, with the characters that join letters and emoji.
    const joined = "\u{1f469}\u200d\u{1f467}\u06cc\u200c\u{1f3f4}\u{e0067}\u{e007f}";
    const client = `Acme ${joined}${"\u{1f600}".repeat(182)} shop`;
    const check = (input: string) => runLocally(["keys", "check"], { input });

    /** Issues a key. @returns it, its id and how the command ended. */
    async function issueKey(name: string, expires = "9999-12-31") {
      const ended = await runLocally(["keys", "issue", "--name", name, "--expires", expires]);
      const [keyId = ""] = /key_\w+/.exec(ended.stderr) ?? [];
      return { key: ended.stdout.trimEnd(), keyId, ended };
    }

    test("prints an issued key alone on stdout", async () => {
      const { key, ended } = await issueKey(` ${client} `);
      expect(ended).toEqual({
        code: 0,
        stdout: expect.stringMatching(
          new RegExp(`^${environments.staging.apiKeyPrefix}_\\w{49}\n$`),
        ),
        stderr: expect.stringMatching(
          /^Issued key_\w+ to Acme \S+ shop; it expires at 9999-12-31T23:59:59Z\..*\n$/,
        ),
      });
      expect(ended.stderr).not.toContain(key);
    });

    test("lists a key with its name as it was given", async () => {
      await issueKey(client);
      const { stdout, ...ended } = await runProcess(["keys", "list", "--json"]);
      expect(ended).toEqual({ code: 0, stderr: "" });
      expect(JSON.parse(stdout)).toMatchObject([{ name: client }]);
    });

    test("says until when a key is accepted", async () => {
      const { key, keyId } = await issueKey(client);
      expect(await check(`  ${key}\r\n`)).toEqual({
        code: 0,
        stdout: `Accepted until 9999-12-31T23:59:59Z: ${keyId} (${client})\n`,
        stderr: "",
      });
    });

    test("takes an expiry with a fraction of a second", async () => {
      const { key } = await issueKey("Acme", "2999-12-31T00:00:00.5Z");
      expect((await check(key)).code).toBe(0);
    });

    test("says that a revoked key is rejected", async () => {
      const { key, keyId } = await issueKey(client);
      expect(await runLocally(["keys", "revoke", keyId])).toMatchObject({ code: 0, stderr: "" });
      expect(await check(`  ${key}\r\n`)).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(/^Rejected: revoked at /),
      });
    });

    test("fails when standard input has no key", async () => {
      const stderr = "Standard input has no key\n";
      expect(await check("\n")).toEqual({ code: 1, stdout: "", stderr });
    });
  });

  describe("for orders", () => {
    const held: OrderItem = { id: { N: "7" }, status: { S: "held\u001b[2J" } };

    test("prints the outcome of each order to ship", async () => {
      await tables.putOrder({ id: { N: "7" }, status: { S: "held" } });
      await tables.putOrder({ id: { N: "-1" }, status: { S: "pending" } });
      const { code, stdout, stderr } = await runLocally(["orders", "ship", "-1", "7"]);
      expect({ code, stderr }).toEqual({
        code: 6,
        stderr: "2 orders: 1 shipped, 1 not pending\n",
      });
      expect(stdout.trimEnd().split("\n")).toEqual([
        expect.stringMatching(/^Order -1 has shipped: \d{4}-.*Z$/),
        "Order 7 is not pending and can't ship: held",
      ]);
    });

    test("escapes control characters in the status of an order to ship", async () => {
      await tables.putOrder(held);
      const { stdout } = await runLocally(["orders", "ship", "7"]);
      expect(stdout).toBe("Order 7 is not pending and can't ship: held\\u{1b}[2J\n");
    });

    test("prints an order as JSON with control characters escaped", async () => {
      await tables.putOrder(held);
      expect(await runLocally(["orders", "show", "7", "--json"])).toEqual({
        code: 0,
        stdout: '{"id":7,"status":"held\\u001b[2J"}\n',
        stderr: "",
      });
    });
  });
});

/**
 * The command line that runs another one on a terminal of its own. Standard input is the keyboard,
 * standard output the screen.
 */
function onTerminal(command: string[]): [string, ...string[]] {
  const python = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";
  if (process.platform === "darwin") return ["python3", "-c", python, ...command];
  return ["script", "-qefc", command.map((word) => `'${word}'`).join(" "), "/dev/null"];
}

test("a key typed at the prompt is not echoed", async () => {
  const key = await tables.putKey(
    { keyId: "key_1" },
    makeApiKey(environments.staging.apiKeyPrefix),
  );
  const [file, ...args] = onTerminal([
    process.execPath,
    ...(await adminCommand()),
    "keys",
    "check",
    "--local",
  ]);
  const env = { ...process.env, LOCAL_STACK_FILE: join(operator.folder, "stack.json") };
  const child = spawn(file, args, { cwd: root, env, stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    if (text.includes("input is hidden")) child.stdin.write(` ${key} \r`);
  });
  const [code] = await once(child, "close");
  expect(shown.replaceAll("\r", "")).toBe("Key (input is hidden): \nAccepted: key_1 (test)\n");
  expect(code).toBe(0);
});

describe("parsing", () => {
  test.each([
    [["--help"], "Manages API keys and orders"],
    [["keys", "issue", "--help"], "--expires"],
    [["orders", "import", "--help"], "--env <name>"],
    [["orders", "ship", "--help"], "7  may have shipped or not"],
  ])("prints the help for %j", async (args, text) => {
    expect(await runCommand(args)).toEqual({
      code: 0,
      stdout: expect.stringContaining(text),
      stderr: "",
    });
  });

  test.each([
    [
      ["keys", "list"],
      `error: choose --local or one of --env ${Object.keys(environments).join(", --env ")}`,
    ],
    [
      ["keys", "list", "--env", "qa"],
      `Allowed choices are ${Object.keys(environments).join(", ")}`,
    ],
    [["keys", "list", "--env", "staging", "--local"], "cannot be used with"],
    [["keys", "--local"], "Usage: npm run admin -- keys"],
    [["orders", "nope\u001b[31m", "--local"], "unknown command 'nope\\u{1b}[31m'"],
    [
      ["orders", "ship", "007"],
      "error: '007' is invalid for argument 'order-id'. Not a 64-bit integer",
    ],
    [
      ["orders", "export", "--local", "--table", "a b"],
      "Must be 3 to 255 of a-z, A-Z, 0-9, _, - and .",
    ],
    [["keys", "list", "--local", "--table", "ab"], "Must be 3 to 255"],
    [["orders", "repair", "--local", "--from", "a/b"], "Must be 3 to 255"],
    [["orders", "repair", "--local", "--from", "abc", "--fields", "a,status"], "not id or status."],
    [["orders", "repair", "--local", "--from", "abc", "--fields", "petId,"], "Must be names like"],
    [["orders", "reinstate", "--local"], "required option '--cancelled-by <key-id>'"],
    [
      ["orders", "reinstate", "--cancelled-by", "key_0123456789abcdef"],
      "required option '--since <date-time>'",
    ],
    [
      "orders reinstate --cancelled-by key_0123456789abcdef --since 2026-11-20 --ids a --except b".split(
        " ",
      ),
      "cannot be used with option '--ids",
    ],
    [["orders", "show", "9223372036854775808"], "Not a 64-bit integer"],
    [["keys", "issue", "--local"], "required option '--name <name>'"],
    [["keys", "issue", "--name", " "], "Must have 1 to 200 characters (code points)."],
    [
      ["keys", "issue", "--name", "\u{1f600}".repeat(201)],
      "Must have 1 to 200 characters (code points).",
    ],
    [["keys", "revoke", ""], "Must be like key_0123456789abcdef"],
    [["keys", "revoke", "key_1"], "'key_1' is invalid for argument 'key-id'. Must be like key_"],
    [["orders", "import", ""], "Must not be empty."],
    [["orders", "export", ""], "Must not be empty."],
    [["orders", "list", "--cancelled-by", ""], "Must be like key_0123456789abcdef"],
    [["orders", "reinstate", "--cancelled-by", ""], "Must be like key_0123456789abcdef"],
    [
      ["orders", "list", "--status", "lost"],
      "Allowed choices are pending, shipped, cancelled, other.",
    ],
    [["orders", "ship", "1", "--file", "ids.txt"], "name either orders or a file of ids"],
    [["orders", "ship", "1", "--date", "yesterday"], "Not a date like 2027-12-31"],
    [
      ["orders", "ship", "1", "--date", "2027-12-31T12:00Z"],
      "It lacks seconds: write 2027-12-31T12:00:00Z.",
    ],
    [
      ["keys", "issue", "--name", "Acme", "--expires", "2027-12-31T12:00"],
      "It lacks seconds and a time zone: write 2027-12-31T12:00:00Z.",
    ],
    [["keys", "issue", "--name", "\u001b[31mred"], "Must be one line without control characters."],
    [["keys", "issue", "--name", "\u202etekram"], "Must be one line without control characters."],
    [["keys", "issue", "--name", "Acme", "--expires", "2026-02-30"], "Not a date like 2027-12-31"],
    [["keys", "issue", "--name", "Acme", "--expires", "2020-01-01"], "Must be in the future."],
    [
      ["keys", "issue", "--name", "Acme", "--expires", "9999-12-31T23:59:59-18:00"],
      "Must be in the year 9999 or earlier",
    ],
  ])("rejects %j with exit code 2", async (args, reason) => {
    const { code, stdout, stderr } = await runCommand(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(reason);
    expect(stderr).not.toContain("\u001b");
  });

  test("takes a date-time to the millisecond, and a day for its beginning", () => {
    expect(parseTime("2026-11-20T09:00:05.987+01:00")).toEqual(
      new Date("2026-11-20T08:00:05.987Z"),
    );
    expect(parseTime("2026-11-20")).toEqual(new Date("2026-11-20T00:00:00Z"));
  });

  test("rejects a time that is not a date", () => {
    expect(() => parseTime("20 November 2026")).toThrow("Not a date like 2027-12-31");
  });

  const key = makeApiKey("pets_test");
  const secret = key.slice("pets_test_".length);
  test.each<[args: (key: string) => string[], reason: string]>([
    [(word) => ["keys", "check", word, "--local"], "give the key on standard input"],
    [(word) => ["keys", "check", "--local", "--", word], "give the key on standard input"],
    [(word) => ["keys", "revoke", word, "--local"], "for argument 'key-id'"],
    [(word) => ["orders", "list", "--local", "--cancelled-by", word], "--cancelled-by <key-id>"],
    [(word) => ["keys", word, "--local"], "unknown command"],
    [(word) => ["keys", "list", "--local", word], "too many arguments"],
    [(word) => ["keys", "list", `--${word}`], "unknown option"],
  ])("echoes nothing of a key, even a mistyped one: %j", async (args, reason) => {
    for (const word of [key, `${key}x`, secret, key.slice(4), key.replace("_test", "-test")]) {
      const { code, stdout, stderr } = await runCommand(args(word));
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(reason);
      expect(stderr).not.toContain(secret.slice(0, 8));
      expect(stderr).not.toContain(secret.slice(-8));
    }
  });
});
