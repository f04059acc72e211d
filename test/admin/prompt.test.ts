import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { adminCommand, root } from "../helpers/admin/admin-command.ts";
import { createOperator } from "../helpers/admin/admin-process.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);
await operator.pointTo(tables);

/** The command line that runs another one on a terminal of its own. Whatever is typed goes in, what is shown comes out. */
function onTerminal(command: string[]): [string, ...string[]] {
  const python = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";
  if (process.platform === "darwin") return ["python3", "-c", python, ...command];
  return ["script", "-qefc", command.map((word) => `'${word}'`).join(" "), "/dev/null"];
}

test("a key that is typed at the prompt is not shown", async () => {
  const key = await tables.putKey({ keyId: "key_1" });
  const [file, ...args] = onTerminal([process.execPath, ...(await adminCommand()), "keys", "check", "--local"]);
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
