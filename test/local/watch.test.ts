import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, cp, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test, vi } from "vitest";
import { machineHas } from "../helpers/machine.ts";
import { isAlive, processesRunning } from "../helpers/processes.ts";
import { send } from "../helpers/send.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const copy = await mkdtemp(join(tmpdir(), "watch-test-"));
let child: ChildProcess | undefined;
afterAll(async () => {
  child?.kill("SIGKILL");
  await rm(copy, { recursive: true });
});

const waiting = { timeout: 60_000, interval: 100 };

const hasList = machineHas("/proc or ps", "npm start --watch");
test.runIf(hasList)(
  "npm start --watch serves what was changed, and the last good build else, until its engine ends",
  {
    timeout: 180_000,
  },
  async () => {
    for (const name of ["functions", "shared", "infra", "package.json", "package-lock.json"]) {
      await cp(join(root, name), join(copy, name), { recursive: true });
    }
    await symlink(join(root, "node_modules"), join(copy, "node_modules"));
    const { baseUrl, apiKey, messages, pid } = await start();
    const headers = { authorization: `Bearer ${apiKey}` };
    const cancel = (id: string) => send(`${baseUrl}/store/orders/${id}`, { method: "DELETE", headers });
    const messageFor = async (id: string): Promise<string> => JSON.parse((await cancel(id)).body).message;

    expect((await cancel("1")).status).toBe(204);
    const before = await messageFor("none");
    const functionsBefore = await processesRunning("rapid-client.mjs", pid);
    expect(functionsBefore.length).toBeGreaterThan(0);
    // Admitted, it waits for its body.
    const underWay = request(`${baseUrl}/store/orders/none`, {
      method: "DELETE",
      headers: { ...headers, expect: "100-continue", "content-length": "2" },
    });
    underWay.flushHeaders();
    await once(underWay, "continue");

    const errors = join(copy, "shared/errors.ts");
    // As many editors save: the file is another one afterwards.
    await writeFile(`${errors}~`, (await readFile(errors, "utf8")).replace(before, "Nobody ordered this"));
    await rename(`${errors}~`, errors);
    await vi.waitFor(async () => expect(await messageFor("none")).toBe("Nobody ordered this"), waiting);
    expect((await cancel("1")).status).toBe(409);

    const responded = once(underWay, "response");
    underWay.end("{}");
    const [response] = await responded;
    expect(JSON.parse(await text(response))).toMatchObject({ code: "order_not_found", message: before });
    await vi.waitFor(() => expect(functionsBefore.filter(isAlive)).toEqual([]), waiting);

    await appendFile(errors, "const = nothing;\n");
    const failures = () => messages.filter((line) => line.includes("The last good build still serves"));
    await vi.waitFor(() => expect(failures()).toHaveLength(1), waiting);
    expect(messages.join("\n")).toContain("shared/errors.ts:");
    expect(await messageFor("none")).toBe("Nobody ordered this");
    expect(failures()).toHaveLength(1);

    const exit = once(child ?? process, "exit");
    for (const engine of await processesRunning("dynoxide", pid)) process.kill(engine, "SIGKILL");
    expect(await exit).toEqual([1, null]);
    expect(messages.at(-1)).toBe("The DynamoDB engine has ended by itself");
  },
);

async function start() {
  child = spawn(process.execPath, ["infra/local/start.ts", "--port", "0", "--json", "--watch"], {
    cwd: copy,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { stdout, stderr, pid = 0 } = child;
  if (stdout === null || stderr === null) throw new Error("A process was started without its output");
  const messages: string[] = [];
  createInterface({ input: stderr }).on("line", (line) => messages.push(line));
  const [line] = await Promise.race([once(createInterface({ input: stdout }), "line"), once(child, "close")]);
  expect(messages).toEqual([]);
  const { baseUrl, apiKey }: { baseUrl: string; apiKey: string } = JSON.parse(line);
  return { baseUrl, apiKey, messages, pid };
}
