import { once } from "node:events";
import { appendFileSync } from "node:fs";
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
import { setTimeout as wait } from "node:timers/promises";
import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { watchSources } from "../../../infra/tools/local/source-watch.ts";
import { engineClient } from "../../../infra/tools/running-stacks/engine-client.ts";
import { root } from "../../helpers/admin-command.ts";
import { machineHas } from "../../helpers/machine.ts";
import { descendants, isAlive } from "../../helpers/processes.ts";
import { send } from "../../helpers/send.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { createStarter, prebuilt, startLimit } from "./start-command.ts";

const { directory, start } = await createStarter();

const hasList = machineHas("/proc or ps", "npm start --watch");
describe.runIf(hasList)("npm start --watch", { timeout: 180_000 }, () => {
  const project = join(directory, "project");
  let stack: ReturnType<typeof start>;
  let served: Record<"baseUrl" | "apiKey" | "dynamodbEndpoint", string>;
  let headers: Record<string, string>;
  beforeAll(async () => {
    for (const part of ["functions", "shared", "infra", "package.json"])
      await cp(join(root, part), join(project, part), { recursive: true });
    await symlink(join(root, "node_modules"), join(project, "node_modules"));
    stack = start(["--port", "0", "--json", "--watch"], await prebuilt(), project);
    await vi.waitFor(() => expect(stack.seen.stdout).toMatch(/^\{.*\}\n$/), startLimit);
    expect(stack.seen.stderr).toBe("Building the service...\n");
    served = JSON.parse(stack.seen.stdout);
    headers = { authorization: `Bearer ${served.apiKey}` };
  });

  const cancel = async (id: string) => {
    const url = `${served.baseUrl}/store/orders/${id}`;
    const { status, body } = await send(url, { method: "DELETE", headers });
    return { status, message: body && JSON.parse(body).message };
  };
  /** Replaces a text in a source as many editors save: by a new file. */
  const edit = async (source: string, text: string | RegExp, replacement: string) => {
    const file = join(project, source);
    const before = await readFile(file, "utf8");
    const after = before.replace(text, replacement);
    expect(after).not.toBe(before);
    await writeFile(`${file}~`, after);
    await rename(`${file}~`, file);
  };
  const mistake = "const = nothing;\n";

  test("serves the last good build while the sources can't be built, and says so once", async () => {
    const before = await cancel("none");
    const failure = /The last good build still serves.*shared\/errors\.ts:/s;
    await edit("shared/errors.ts", /$/, mistake);
    await vi.waitFor(() => expect(stack.seen.stderr).toMatch(failure), startLimit);
    expect(await cancel("none")).toEqual(before);
    expect(stack.seen.stderr.match(/The last good build/g)).toHaveLength(1);
  });

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
    const keys = "    apiKeys: addTable(";
    await edit(
      "infra/stack/tables.ts",
      keys,
      `    more: addTable("Refunds", {
      partitionKey: { name: "id", type: AttributeType.STRING },
    }),
${keys}`,
    );
    await edit("shared/errors.ts", mistake, 'console.warn(new Error("a stack"));\n');
    const message = "Nobody ordered this.";
    await edit("shared/errors.ts", "No order has this id.", message);
    await expect
      .poll(() => cancel("none"), { ...startLimit, interval: 500 })
      .toMatchObject({ message: expect.stringContaining(message) });
    underWay.end("{}");
    const [response] = await responded;
    expect(await text(response)).toContain("No order has this id.");
    expect((await cancel("1")).status).toBe(409);
    expect(functionsBefore).not.toEqual([]);
    await expect.poll(() => functionsBefore.filter(isAlive)).toEqual([]);
  });

  test("creates a table that a change adds, and names lines of sources in traces", async () => {
    const client = engineClient(served.dynamodbEndpoint);
    const { TableNames } = await client.send(new ListTablesCommand());
    client.destroy();
    expect(TableNames).toContainEqual(expect.stringContaining("Refunds"));
    expect(stack.seen.stderr).toMatch(/a stack.*shared\/errors\.ts:\d+:14/);
  });

  test("ends when its engine ends", async () => {
    for (const engine of await descendants(stack.pid, "dynoxide"))
      process.kill(engine, "SIGKILL");
    const stderr = expect.stringMatching(/\nThe DynamoDB engine ended unexpectedly\n$/);
    await expect.poll(() => stack.seen).toMatchObject({ ended: [1, null], stderr });
  });
});

describe("the watched sources", () => {
  const names = [
    "functions/one.ts",
    "shared/one.ts",
    "infra/stack/one.ts",
    "infra/environments.ts",
  ];

  async function watch() {
    const folder = await temporaryFolder();
    const at = (name: string) => join(folder.path, name);
    for (const name of names) {
      await mkdir(dirname(at(name)), { recursive: true });
      await writeFile(at(name), "");
    }
    const ending = new AbortController();
    const rebuild = vi.fn(async () => {});
    const watching = watchSources(rebuild, ending.signal, () => {}, folder.path);
    onTestFinished(async () => {
      ending.abort();
      await watching;
      await folder.remove();
    });
    const build = async (change: Promise<unknown>, times = 1) => {
      await change;
      await expect.poll(() => rebuild.mock.calls.length).toBeGreaterThanOrEqual(times);
      rebuild.mockClear();
    };
    return { at, build, rebuild };
  }

  test("are rebuilt when a file in them changes", async () => {
    const { at, build } = await watch();
    for (const name of names) await build(appendFile(at(name), "\n"));
  });

  test("are rebuilt when a folder is deleted, back and filled again", async () => {
    const { at, build } = await watch();
    await build(rm(at("functions"), { recursive: true }));
    await build(mkdir(at("functions/deep"), { recursive: true }));
    await build(writeFile(at("functions/deep/one.ts"), ""));
  });

  test("are rebuilt only once no more of them change", async () => {
    const { at, build, rebuild } = await watch();
    for (const name of names) {
      appendFileSync(at(name), "\n");
      await wait(100);
    }
    expect(rebuild).not.toHaveBeenCalled();
    await build(Promise.resolve());
  });

  test("are rebuilt once more when one changes during a build", async () => {
    const { at, build, rebuild } = await watch();
    rebuild.mockImplementationOnce(() => appendFile(at("shared/one.ts"), "\n"));
    await build(appendFile(at("functions/one.ts"), "\n"), 2);
  });
});
