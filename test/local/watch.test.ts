import { once } from "node:events";
import {
  appendFile,
  cp,
  mkdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { request } from "node:http";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { engineClient } from "../../infra/local/engine/engine.ts";
import { root } from "../helpers/admin-command.ts";
import { machineHas } from "../helpers/machine.ts";
import { descendants, isAlive } from "../helpers/processes.ts";
import { send } from "../helpers/send.ts";
import { createStarter, startLimit, startScript } from "./start-command.ts";

const { directory, run } = await createStarter();

const hasList = machineHas("/proc or ps", "npm start --watch");
describe.runIf(hasList)("npm start --watch", { timeout: 180_000 }, () => {
  const project = join(directory, "project");
  let stack: ReturnType<typeof run>;
  let served: Record<"baseUrl" | "apiKey" | "dynamodbEndpoint" | "accessKeyId", string>;
  let headers: Record<string, string>;
  beforeAll(async () => {
    for (const part of [
      "functions",
      "shared",
      "infra",
      "package.json",
      "package-lock.json",
    ])
      await cp(join(root, part), join(project, part), { recursive: true });
    await symlink(join(root, "node_modules"), join(project, "node_modules"));
    const command = [process.execPath, ...startScript, "--port", "0", "--json", "--watch"];
    stack = run(command, project);
    await vi.waitFor(() => expect(stack.seen.stdout).toMatch(/^\{.*\}\n$/), startLimit);
    expect(stack.seen.stderr).toBe("Building the service...\n");
    served = JSON.parse(stack.seen.stdout);
    headers = { authorization: `Bearer ${served.apiKey}` };
  });

  const cancel = (id: string) =>
    send(`${served.baseUrl}/store/orders/${id}`, { method: "DELETE", headers });
  const messageOfNone = async () => JSON.parse((await cancel("none")).body).message;
  /** Replaces a text in a source as many editors save: by a new file. */
  const edit = async (source: string, text: string | RegExp, replacement: string) => {
    const file = join(project, source);
    const before = await readFile(file, "utf8");
    const after = before.replace(text, replacement);
    expect(after).not.toBe(before);
    await writeFile(`${file}~`, after);
    await rename(`${file}~`, file);
  };
  /** Changes the message of an unknown order, and waits until it is served. */
  const change = async (before: string, after: string) => {
    await edit("shared/errors.ts", before, after);
    await expect.poll(messageOfNone, { ...startLimit, interval: 100 }).toMatch(after);
  };

  test("serves a change with the same orders; requests under way finish before it", async () => {
    expect((await cancel("1")).status).toBe(204);
    const functionsBefore = await descendants(stack.pid, "rapid-client.mjs");
    // Admitted, it waits for its body.
    const underWay = request(`${served.baseUrl}/store/orders/none`, {
      method: "DELETE",
      headers: { ...headers, expect: "100-continue", "content-length": "2" },
    });
    const responded = once(underWay, "response");
    underWay.flushHeaders();
    await once(underWay, "continue");
    await change("No order has this id.", "Nobody ordered this.");
    underWay.end("{}");
    const [response] = await responded;
    expect(JSON.parse(await text(response))).toMatchObject({
      code: "order_not_found",
      message: expect.stringContaining("No order has this id."),
    });
    expect((await cancel("1")).status).toBe(409);
    expect(functionsBefore).not.toEqual([]);
    await expect.poll(() => functionsBefore.filter(isAlive)).toEqual([]);
  });

  test("creates a table that a change adds, and names lines of sources in traces", async () => {
    const another = '\n  addTable("orders", "Refunds");\n';
    const returned = /\n(?= {2}return \{ orders: addTable)/;
    await edit("infra/stack/tables.ts", returned, another);
    await edit("shared/errors.ts", /$/, 'console.warn(new Error("a stack"));\n');
    await change("Nobody ordered this.", "No one ordered this.");
    const client = engineClient(served.dynamodbEndpoint, served.accessKeyId);
    const { TableNames } = await client.send(new ListTablesCommand());
    client.destroy();
    expect(TableNames).toContainEqual(expect.stringContaining("Refunds"));
    expect(stack.seen.stderr).toMatch(/a stack.*shared\/errors\.ts:\d+:14/);
  });

  test("serves the last good build while the sources can't be built, and says so once", async () => {
    const before = await messageOfNone();
    const failure = /The last good build still serves.*shared\/errors\.ts:/s;
    await edit("shared/errors.ts", /$/, "const = nothing;\n");
    await vi.waitFor(() => expect(stack.seen.stderr).toMatch(failure), startLimit);
    expect(await messageOfNone()).toBe(before);
    expect(stack.seen.stderr.match(/The last good build/g)).toHaveLength(1);
  });

  test("ends when its engine ends", async () => {
    for (const engine of await descendants(stack.pid, "dynoxide"))
      process.kill(engine, "SIGKILL");
    const stderr = expect.stringMatching(/\nThe DynamoDB engine ended unexpectedly\n$/);
    await expect.poll(() => stack.seen).toMatchObject({ ended: [1, null], stderr });
  });
});

describe("the watched sources", () => {
  const files = ["functions/one.ts", "shared/one.ts", "infra/stack/one.ts"];
  files.push("infra/app.ts", "infra/environments.ts");
  const folder = join(directory, "sources");
  const at = (name: string) => join(folder, name);
  const create = (name: string) => mkdir(at(name), { recursive: true });
  const change = (name: string) => appendFile(at(name), "\n");
  const remove = (name: string) => rm(at(name), { recursive: true });

  /** Watches small sources, which it finds beside it, until the test ends. */
  async function watchSources() {
    for (const name of files) {
      await create(dirname(name));
      await writeFile(at(name), "");
    }
    await cp(join(root, "infra/local/source-watch.ts"), at("infra/local/source-watch.ts"));
    const watch: typeof import("../../infra/local/source-watch.ts") = await import(
      at("infra/local/source-watch.ts")
    );
    const ended = new AbortController();
    const rebuild = vi.fn<() => Promise<void>>();
    const watching = watch.watchSources(rebuild, ended.signal, () => {});
    onTestFinished(async () => {
      ended.abort();
      await watching;
    });
    /** Changes something, and waits until that has been built. */
    const build = async (what: string, change: () => Promise<unknown>, times = 1) => {
      await change();
      await expect
        .poll(() => rebuild.mock.calls.length, { message: what })
        .toBeGreaterThanOrEqual(times);
      rebuild.mockClear();
    };
    return { build, rebuild };
  }

  test("are rebuilt when a file in them changes", async () => {
    const { build } = await watchSources();
    for (const name of files) await build(name, () => change(name));
  });

  test.each(["shared/new", "functions", "shared", "infra/stack"])(
    "are rebuilt when %s is deleted, back and filled again",
    async (name) => {
      await create("shared/new");
      const { build } = await watchSources();
      await build("deleted", () => remove(name));
      await build("back", () => create(`${name}/deep`));
      await build("filled", () => writeFile(at(`${name}/deep/one.ts`), ""));
    },
  );

  test("are rebuilt once more when one changes during a build", async () => {
    const { build, rebuild } = await watchSources();
    rebuild.mockImplementationOnce(() => change("shared/one.ts"));
    await build("twice", () => change("functions/one.ts"), 2);
  });
});
