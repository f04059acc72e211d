import { once } from "node:events";
import { appendFile, cp, mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { engineClient } from "../../infra/local/engine/engine.ts";
import { root } from "../helpers/admin-command.ts";
import { machineHas } from "../helpers/machine.ts";
import { descendants, isAlive } from "../helpers/processes.ts";
import { send } from "../helpers/send.ts";
import { createStarter, startLimit, startScript } from "./start-command.ts";

const { directory: copy, run } = await createStarter();

/**
 * Serves a copy of the project by `npm start --watch`, until the test ends, unless `finished` takes
 * over.
 */
async function startWatched(name: string, finished?: (end: () => Promise<void>) => void) {
  const project = join(copy, name);
  for (const part of ["functions", "shared", "infra", "package.json", "package-lock.json"]) {
    await cp(join(root, part), join(project, part), { recursive: true });
  }
  await symlink(join(root, "node_modules"), join(project, "node_modules"));
  const command = [process.execPath, ...startScript, "--port", "0", "--json", "--watch"];
  const { pid, seen } = run(command, project, {}, finished);
  const building = "Building the service...\n";
  const ready = { stdout: expect.stringMatching(/^\{.*\}\n$/), stderr: building };
  await vi.waitFor(() => expect(seen).toMatchObject(ready), startLimit);
  const whereabouts: Record<"baseUrl" | "apiKey" | "dynamodbEndpoint" | "accessKeyId", string> =
    JSON.parse(seen.stdout);
  const headers = { authorization: `Bearer ${whereabouts.apiKey}` };
  const cancel = (id: string) =>
    send(`${whereabouts.baseUrl}/store/orders/${id}`, { method: "DELETE", headers });
  const messageOfNone = async (): Promise<string> =>
    JSON.parse((await cancel("none")).body).message;
  return {
    ...whereabouts,
    headers,
    pid,
    seen,
    cancel,
    messageOfNone,
    /** Replaces a text in a source as many editors save: by a new file. */
    edit: async (source: string, text: string | RegExp, replacement: string) => {
      const file = join(project, source);
      const before = await readFile(file, "utf8");
      const after = before.replace(text, replacement);
      expect(after).not.toBe(before);
      await writeFile(`${file}~`, after);
      await rename(`${file}~`, file);
    },
    untilServed: (message: string) =>
      vi.waitFor(async () => expect(await messageOfNone()).toMatch(message), {
        ...startLimit,
        interval: 100,
      }),
  };
}

const oldMessage = "No order has this id.";

const hasList = machineHas("/proc or ps", "npm start --watch");
describe.runIf(hasList)("npm start --watch", { timeout: 180_000 }, () => {
  let end: () => Promise<void>;
  let stack: Awaited<ReturnType<typeof startWatched>>;
  beforeAll(async () => {
    stack = await startWatched("changed", (stop) => {
      end = stop;
    });
  });
  afterAll(() => end());
  /** Changes the message of an unknown order, and waits until it is served. */
  const change = async (before: string, after: string) => {
    await stack.edit("shared/errors.ts", before, after);
    await stack.untilServed(after);
  };

  test("serves a change with the same orders; requests under way finish before it", async () => {
    expect((await stack.cancel("1")).status).toBe(204);
    const functionsBefore = await descendants(stack.pid, "rapid-client.mjs");
    // Admitted, it waits for its body.
    const underWay = request(`${stack.baseUrl}/store/orders/none`, {
      method: "DELETE",
      headers: { ...stack.headers, expect: "100-continue", "content-length": "2" },
    });
    const responded = once(underWay, "response");
    underWay.flushHeaders();
    await once(underWay, "continue");
    await change(oldMessage, "Nobody ordered this.");
    underWay.end("{}");
    const [response] = await responded;
    expect(JSON.parse(await text(response))).toMatchObject({
      code: "order_not_found",
      message: expect.stringContaining(oldMessage),
    });
    expect((await stack.cancel("1")).status).toBe(409);
    expect(functionsBefore).not.toEqual([]);
    await expect.poll(() => functionsBefore.filter(isAlive)).toEqual([]);
  });

  test("creates a table that a change adds, and names lines of sources in traces", async () => {
    const another = '\n  addTable("orders", "Refunds");\n';
    const returned = /\n(?= {2}return \{ orders: addTable)/;
    await stack.edit("infra/stack/tables.ts", returned, another);
    await stack.edit("shared/errors.ts", /$/, 'console.warn(new Error("a stack"));\n');
    await change("Nobody ordered this.", "No one ordered this.");
    const client = engineClient(stack.dynamodbEndpoint, stack.accessKeyId);
    const { TableNames } = await client.send(new ListTablesCommand());
    client.destroy();
    expect(TableNames).toContainEqual(expect.stringContaining("Refunds"));
    expect(stack.seen.stderr).toMatch(/a stack.*shared\/errors\.ts:\d+:14/);
  });

  test("serves the last good build while the sources can't be built, and says so once", async () => {
    const before = await stack.messageOfNone();
    const failure = /The last good build still serves.*shared\/errors\.ts:/s;
    await stack.edit("shared/errors.ts", /$/, "const = nothing;\n");
    await vi.waitFor(() => expect(stack.seen.stderr).toMatch(failure), startLimit);
    expect(await stack.messageOfNone()).toBe(before);
    expect(stack.seen.stderr.match(/The last good build/g)).toHaveLength(1);
  });

  test("ends when its engine ends", async () => {
    for (const engine of await descendants(stack.pid, "dynoxide")) process.kill(engine, "SIGKILL");
    const stderr = expect.stringMatching(/\nThe DynamoDB engine ended unexpectedly\n$/);
    await expect.poll(() => stack.seen).toMatchObject({ ended: [1, null], stderr });
  });
});

describe("the watched sources", () => {
  const sources = [
    "functions/one.ts",
    "shared/one.ts",
    "infra/stack/one.ts",
    "infra/app.ts",
    "infra/environments.ts",
  ];
  const folder = join(copy, "sources");
  const log: string[] = [];

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
    const watching = watch.watchSources(rebuild, ended.signal, (line) => log.push(line));
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

  test("are rebuilt when any of them changes", async () => {
    const expectRebuild = await watchSources();
    for (const name of sources) await expectRebuild(() => change(name));
  });

  const made = join(folder, "shared/new/deep");
  const create = () => mkdir(made, { recursive: true });
  const addFile = () => writeFile(join(made, "one.ts"), "");
  const remove = (name: string) => rm(join(folder, name), { recursive: true, force: true });

  test("are rebuilt when a folder in them is created, filled, deleted and created again", async () => {
    onTestFinished(() => remove("shared/new"));
    const expectRebuild = await watchSources();
    const changes = [create, addFile, () => remove("shared/new"), create, addFile];
    for (const change of changes) await expectRebuild(change);
  });

  test.each(["functions", "shared", "infra/stack"])(
    "are rebuilt when %s, which was deleted, is back, and when it then changes",
    async (source) => {
      const expectRebuild = await watchSources();
      await expectRebuild(() => remove(source));
      await expectRebuild(() => mkdir(join(folder, source)));
      await expectRebuild(() => writeFile(join(folder, source, "one.ts"), "1"));
      await expectRebuild(() => change(`${source}/one.ts`));
    },
  );

  test("are rebuilt once more when one changes during a build", async () => {
    const expectRebuild = await watchSources();
    const rebuild = await expectRebuild(() => change("infra/app.ts"));
    rebuild.mockImplementationOnce(() => change("shared/one.ts"));
    await expectRebuild(() => change("functions/one.ts"), 2);
  });
});
