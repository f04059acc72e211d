import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readlinkSync } from "node:fs";
import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { environments } from "../../../infra/environments.ts";
import { makeApiKey } from "../../../shared/api-keys.ts";
import { petstore, root } from "../../helpers/admin-command.ts";
import { unapplied } from "../../helpers/faults/faults.ts";
import { machineHas } from "../../helpers/machine.ts";
import { hasProc } from "../../helpers/processes.ts";
import { onEveryAfter } from "./calls.ts";
import { createTerminal } from "./terminal.ts";

const { folder, pointTo, put, putKey, stackAt, stackFiles, start } =
  await createTerminal();
const key = "key_0123456789abcdef";

describe("a command whose standard output can't be written", () => {
  const full = "Standard output can't be written: no space left on device";
  const toRevoke = "Revoke key_…: its key is lost";
  async function stderrOf(words: string, where: string): Promise<string> {
    const script = `{ "$0" "$@"; echo "exit $?" >&2; } ${where}`;
    const { stderr } = await (await start(words, { script })).ended;
    return stderr.replace(/key_(?!0123)\w+/, "key_…");
  }

  test.runIf(machineHas("/dev/full", "a result that can't be written")).each([
    [
      "orders import 2.ndjson",
      `${full}. 1 order: 1 written, 0 already there, 0 different, 0 not written`,
    ],
    ["orders export", full],
    ["keys issue --name Acme", `${full}. ${toRevoke}`],
    [
      `keys revoke ${key}`,
      `${full}. Revoked ${key} (test). The gateway's cache may still accept it for up to ` +
        `${environments.staging.authorizerCacheSeconds} seconds.`,
    ],
    ["orders ship 1", `${full}. Ship them again to see what has shipped`],
  ])("says so: %s", async (words, line) => {
    await put('{"id":1}');
    await writeFile("2.ndjson", '{"id":2}');
    await putKey({ keyId: key });
    expect(await stderrOf(words, "> /dev/full")).toBe(`${line}\nexit 1\n`);
  });

  test.each([
    ["ends quietly", "keys list", ""],
    [
      "but says which key to revoke",
      "keys issue --name Acme",
      `Standard output can't be written: broken pipe. ${toRevoke}\n`,
    ],
  ])("because no one reads it any more %s", async (_, words, line) => {
    expect(await stderrOf(words, "| :")).toBe(`${line}exit 1\n`);
  });
});

function onTerminal(command: string[]): [string, ...string[]] {
  const python = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";
  if (process.platform === "darwin") return ["python3", "-c", python, ...command];
  return ["script", "-qefc", command.map((word) => `'${word}'`).join(" "), "/dev/null"];
}

test("a key typed at the prompt is not echoed", async () => {
  const typed = await putKey(
    { keyId: "key_1" },
    makeApiKey(environments.staging.apiKeyPrefix),
  );
  await pointTo(stackAt());
  const script = `"$0" "$@" > "${folder}/checked"`;
  const words = [process.execPath, ...petstore, "keys", "check", "--local"];
  const [file, ...args] = onTerminal(["sh", "-c", script, ...words]);
  const env = { ...process.env, LOCAL_STACKS: stackFiles };
  const child = spawn(file, args, { cwd: root, env, stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (shown += text));
  await expect.poll(() => shown).toBe("Key (input is hidden): ");
  child.stdin.write(` ${typed} \r`);
  expect(await once(child, "close")).toEqual([0, null]);
  expect(shown.replaceAll("\r", "")).toBe("Key (input is hidden): \n");
  expect(await readFile("checked", "utf8")).toBe("Accepted: key_1 (test)\n");
});

// Not even a handler of the signal would run while a write to a full pipe blocks.
test("an export to standard output ends at the first Ctrl-C, even if no one reads it", async () => {
  const scanning = Promise.withResolvers<void>();
  const calls = () => () => scanning.resolve();
  const { child, ended } = await start("orders export", { calls });
  await scanning.promise;
  child.kill("SIGINT");
  expect(await ended).toEqual({ code: null, stdout: "", stderr: "" });
});

describe("an import", () => {
  test("that waits for standard input leaves nothing behind at Ctrl-C", async () => {
    const tmp = await mkdtemp(join(folder, "tmp-"));
    const { child, ended } = await start("orders import", {
      input: null,
      env: { TMPDIR: tmp },
    });
    // More than SQLite keeps in memory.
    const otherAttributes = { text: { S: "x".repeat(2000) } };
    for (let id = 0; id < 2000; id++)
      child.stdin.write(`${JSON.stringify({ id, otherAttributes })}\n`);
    const { pid } = child;
    const openFiles = () =>
      globSync(`/proc/${pid}/fd/*`).map((link) => readlinkSync(link));
    if (hasProc())
      await expect.poll(openFiles).toContainEqual(expect.stringContaining(tmp));
    child.kill("SIGINT");
    const stderr = "Interrupted: nothing was written\n";
    expect(await ended).toEqual({ code: 1, stdout: "", stderr });
    expect(await readdir(tmp)).toEqual([]);
  });

  test("that waits for its writes ends at the second Ctrl-C", async () => {
    const { calls, failing } = onEveryAfter(0, "PutItem", unapplied["no response"]);
    const { child, ended } = await start("orders import", { calls, input: '{"id":1}' });
    await failing;
    let signals = 0;
    // Two signals at once may arrive as one.
    const timer = setInterval(() => {
      if (child.kill("SIGINT")) signals++;
    }, 50);
    onTestFinished(() => clearInterval(timer));
    expect(await ended).toMatchObject({ code: null, stdout: "" });
    expect(signals).toBeGreaterThan(1);
  });
});
