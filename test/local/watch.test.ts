import { appendFile, cp, mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { engineClient } from "../../infra/local/engine/engine.ts";
import { root } from "../helpers/admin-command.ts";
import { machineHas } from "../helpers/machine.ts";
import { descendants, isAlive } from "../helpers/processes.ts";
import { send } from "../helpers/send.ts";
import { createStarter, startLimit } from "./start-command.ts";

const { directory: copy, run } = await createStarter();

/** A copy of the project that `npm start --watch` serves, and how to change it. */
async function startWatched(name: string) {
  const project = join(copy, name);
  for (const part of ["functions", "shared", "infra", "package.json", "package-lock.json"]) {
    await cp(join(root, part), join(project, part), { recursive: true });
  }
  await symlink(join(root, "node_modules"), join(project, "node_modules"));
  const command = [process.execPath, "infra/local/start.ts", "--port", "0", "--json", "--watch"];
  const { pid, seen } = run(command, project);
  await expect
    .poll(() => seen, startLimit)
    .toMatchObject({ stdout: expect.stringMatching(/^\{.*\}\n$/), stderr: "" });
  const ready: Record<"baseUrl" | "apiKey" | "dynamodbEndpoint" | "accessKeyId", string> =
    JSON.parse(seen.stdout);
  const headers = { authorization: `Bearer ${ready.apiKey}` };
  const cancel = (id: string) =>
    send(`${ready.baseUrl}/store/orders/${id}`, { method: "DELETE", headers });
  const messageOfNone = async (): Promise<string> =>
    JSON.parse((await cancel("none")).body).message;
  return {
    ...ready,
    headers,
    pid,
    seen,
    cancel,
    messageOfNone,
    /** Replaces a text of a source as many editors save: the file is another one afterwards. */
    edit: async (source: string, text: string | RegExp, replacement: string) => {
      const file = join(project, source);
      const before = await readFile(file, "utf8");
      const after = before.replace(text, replacement);
      expect(after).not.toBe(before);
      await writeFile(`${file}~`, after);
      await rename(`${file}~`, file);
    },
    untilServed: (message: string) =>
      expect.poll(messageOfNone, { ...startLimit, interval: 100 }).toMatch(message),
  };
}

const oldMessage = "No order has this id.";
const newMessage = "Nobody ordered this.";

const hasList = machineHas("/proc or ps", "npm start --watch");
describe.runIf(hasList)("npm start --watch", { timeout: 180_000 }, () => {
  test("serves what was changed", async () => {
    const { edit, untilServed } = await startWatched("changed");
    await edit("shared/errors.ts", oldMessage, newMessage);
    await untilServed(newMessage);
  });

  test("keeps the orders when it serves what was changed", async () => {
    const { cancel, edit, untilServed } = await startWatched("kept");
    expect((await cancel("1")).status).toBe(204);
    await edit("shared/errors.ts", oldMessage, newMessage);
    await untilServed(newMessage);
    expect((await cancel("1")).status).toBe(409);
  });

  test("creates a table that was added", async () => {
    const { accessKeyId, dynamodbEndpoint, edit, untilServed } = await startWatched("table");
    const another = '\n  addTable("orders", "Refunds");\n';
    await edit("infra/stack/tables.ts", /\n(?= {2}return .*\n}\n$)/, another);
    await edit("shared/errors.ts", oldMessage, newMessage);
    await untilServed(newMessage);
    const client = engineClient(dynamodbEndpoint, accessKeyId);
    const { TableNames } = await client.send(new ListTablesCommand());
    client.destroy();
    expect(TableNames).toContainEqual(expect.stringContaining("Refunds"));
  });

  test("names the line of a source, not of a bundle, in a stack trace", async () => {
    const { edit, seen, untilServed } = await startWatched("trace");
    await edit("shared/errors.ts", /$/, 'console.warn(new Error("a stack"));\n');
    await edit("shared/errors.ts", oldMessage, newMessage);
    await untilServed(newMessage);
    expect(seen.stderr).toMatch(/a stack.*shared\/errors\.ts:\d+:14/);
  });

  test("lets the functions of before finish what they have begun, then ends them", async () => {
    const { baseUrl, cancel, edit, headers, pid, untilServed } = await startWatched("under way");
    await cancel("none");
    const functionsBefore = await descendants(pid, "rapid-client.mjs");
    expect(functionsBefore.length).toBeGreaterThan(0);
    // Admitted, it waits for its body.
    const underWay = request(`${baseUrl}/store/orders/none`, {
      method: "DELETE",
      headers: { ...headers, expect: "100-continue", "content-length": "2" },
    });
    const continued = vi.fn().mockName("100 Continue");
    const responded = vi.fn<(response: IncomingMessage) => void>().mockName("response");
    underWay.on("continue", continued).on("response", responded).flushHeaders();
    await expect.poll(() => continued).toHaveBeenCalled();

    await edit("shared/errors.ts", oldMessage, newMessage);
    await untilServed(newMessage);
    underWay.end("{}");
    await expect.poll(() => responded).toHaveBeenCalled();
    const [response] = responded.mock.lastCall ?? [];
    expect(JSON.parse(response ? await text(response) : "")).toMatchObject({
      code: "order_not_found",
      message: expect.stringContaining(oldMessage),
    });
    await expect.poll(() => functionsBefore.filter(isAlive)).toEqual([]);
  });

  test("serves the last good build while the sources can't be built", async () => {
    const { edit, messageOfNone, seen } = await startWatched("broken");
    const before = await messageOfNone();
    await edit("shared/errors.ts", /$/, "const = nothing;\n");
    const failures = /The last good build still serves.*shared\/errors\.ts:/gs;
    await expect.poll(() => seen.stderr, startLimit).toMatch(failures);
    expect(seen.stderr.match(failures)).toHaveLength(1);
    expect(await messageOfNone()).toBe(before);
  });

  test("ends when its engine ends", async () => {
    const { pid, seen } = await startWatched("engine");
    for (const engine of await descendants(pid, "dynoxide")) process.kill(engine, "SIGKILL");
    const stderr = "The DynamoDB engine has ended by itself\n";
    await expect.poll(() => seen).toMatchObject({ ended: [1, null], stderr });
  });
});

describe("the sources", () => {
  const sources = [
    "functions/one.ts",
    "shared/one.ts",
    "infra/stack/one.ts",
    "infra/app.ts",
    "infra/environments.ts",
  ];
  const folder = join(copy, "sources");

  /** Watches small sources, which it finds beside it, until the test ends. */
  async function watchSources() {
    for (const name of sources) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), "");
    }
    const watcher = join(folder, "infra/local/source-watch.ts");
    await cp(join(root, "infra/local/source-watch.ts"), watcher);
    const watch: typeof import("../../infra/local/source-watch.ts") = await import(watcher);
    const ended = new AbortController();
    const rebuild = vi.fn<() => Promise<void>>();
    const watching = watch.watchSources(rebuild, ended.signal);
    onTestFinished(async () => {
      ended.abort();
      await watching;
    });
    return async (change: () => Promise<unknown>, times = 1) => {
      await change();
      await expect.poll(() => rebuild.mock.calls.length).toBeGreaterThanOrEqual(times);
      rebuild.mockClear();
      return rebuild;
    };
  }

  const change = (name: string) => appendFile(join(folder, name), "\n");

  test("are built again when any changes", async () => {
    const expectRebuild = await watchSources();
    for (const name of sources) await expectRebuild(() => change(name));
  });

  test("are built again when a folder comes, changes or goes", async () => {
    const expectRebuild = await watchSources();
    const made = join(folder, "shared/new/deep");
    for (const _ of ["first", "anew"]) {
      await expectRebuild(() => mkdir(made, { recursive: true }));
      await expectRebuild(() => writeFile(join(made, "one.ts"), ""));
      await expectRebuild(() => rm(dirname(made), { recursive: true }));
    }
  });

  test("are built once more when one changes during a build", async () => {
    const expectRebuild = await watchSources();
    const rebuild = await expectRebuild(() => change("infra/app.ts"));
    rebuild.mockImplementationOnce(() => change("shared/one.ts"));
    await expectRebuild(() => change("functions/one.ts"), 2);
  });

  test("have as many watchers after a build as before", async () => {
    const watchers = () =>
      process.getActiveResourcesInfo().filter((name) => name === "FSEventWrap").length;
    await expect.poll(watchers).toBe(0);
    const expectRebuild = await watchSources();
    const before = watchers();
    await expectRebuild(() => change("infra/app.ts"));
    await expect.poll(watchers).toBe(before);
  });
});
