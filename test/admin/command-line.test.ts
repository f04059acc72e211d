import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { makeApiKey } from "../../shared/api-keys.ts";
import { adminCommand, root } from "../helpers/admin/admin-command.ts";
import { createOperator } from "../helpers/admin/admin-process.ts";
import { runHere } from "../helpers/admin/command-here.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";
import { machineHas } from "../helpers/machine.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);
await operator.pointTo(tables);
const local = (args: string[], options?: { input: string }) => operator.run([...args, "--local"], options);
const here = (args: string[], options?: { input: string }) => runHere(tables, args, options);

describe("npm run admin", () => {
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

  test("ends quietly when no one reads its result any more", async () => {
    const env = { ...process.env, LOCAL_STACK_FILE: join(operator.folder, "stack.json") };
    const child = spawn(process.execPath, [...(await adminCommand()), "keys", "list", "--local"], { cwd: root, env });
    child.stdout.destroy();
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  });

  test("every keys command prints its result on stdout, and the key alone when it issues one", async () => {
    // As long as a name may be.
    const client = `Acme \u{1f469}\u200d\u{1f467}${"\u{1f600}".repeat(187)} shop`;
    const issued = await here(["keys", "issue", "--name", ` ${client} `, "--expires", "9999-12-31"]);
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

    expect(await here(["keys", "check"], { input: `  ${key}\r\n` })).toEqual({
      code: 0,
      stdout: `Accepted until 9999-12-31T23:59:59Z: ${keyId} (${client})\n`,
      stderr: "",
    });
    expect(await local(["keys", "revoke", keyId])).toMatchObject({ code: 0, stderr: "" });
    expect(await local(["keys", "check"], { input: `  ${key}\r\n` })).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^Rejected: revoked at /),
    });
    expect(await here(["keys", "check"], { input: "\n" })).toEqual({
      code: 1,
      stdout: "",
      stderr: "Standard input has no key\n",
    });
    expect(await here(["keys", "revoke", keyId])).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^Key key_\w+ was already revoked at .*Z\n$/),
    });
  });

  test("orders ship and orders show print their result on stdout, safe for a terminal", async () => {
    await tables.putOrder({ id: { N: "7" }, status: { S: "held\u001b[2J" } });
    await tables.putOrder({ id: { N: "-1" }, status: { S: "pending" } });
    const { code, stdout, stderr } = await here(["orders", "ship", "-1", "7"]);
    expect({ code, stderr }).toEqual({ code: 6, stderr: "" });
    expect(stdout.trimEnd().split("\n").sort()).toEqual([
      expect.stringMatching(/^Order -1 has shipped: \d{4}-.*Z$/),
      "Order 7 is not pending and can't ship: held\\u{1b}[2J",
    ]);
    expect(await here(["orders", "show", "7", "--json"])).toEqual({
      code: 0,
      stdout: '{"id":7,"status":"held\\u001b[2J"}\n',
      stderr: "",
    });
  });

  test("wrong use exits with 2", async () => {
    expect(await operator.run(["keys", "list"])).toEqual({
      code: 2,
      stdout: "",
      stderr: "error: choose --local or one of --env staging, --env production\n(see --help)\n",
    });
  });

  test("a key in the place of an id is never repeated", async () => {
    const key = makeApiKey("pets_test");
    const { code, stderr } = await here(["keys", "revoke", key]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: "That is a key, not a key id, and is now in your shell history. `keys check` prints its id\n",
    });
    expect((await here(["keys", "revoke", `${key}x`])).stderr).toBe("No key has the id pets_test_...\n");
  });
});
