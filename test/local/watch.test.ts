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

const hasList = machineHas("/proc or ps", "npm start --watch");
test.runIf(hasList)(
  "npm start --watch serves what was changed, new tables too, and the last good build else, until its engine ends",
  { timeout: 180_000 },
  async () => {
    for (const name of ["functions", "shared", "infra", "package.json", "package-lock.json"]) {
      await cp(join(root, name), join(copy, name), { recursive: true });
    }
    await symlink(join(root, "node_modules"), join(copy, "node_modules"));
    const command = [process.execPath, "infra/local/start.ts", "--port", "0", "--json", "--watch"];
    const { pid, seen } = run(command, copy);
    await expect
      .poll(() => seen, startLimit)
      .toMatchObject({ stdout: expect.stringMatching(/^\{.*\}\n$/), stderr: "" });
    const {
      baseUrl,
      apiKey,
      dynamodbEndpoint = "",
      accessKeyId,
    }: Record<string, string> = JSON.parse(seen.stdout);
    const headers = { authorization: `Bearer ${apiKey}` };
    const cancel = (id: string) =>
      send(`${baseUrl}/store/orders/${id}`, { method: "DELETE", headers });
    const messageFor = async (id: string): Promise<string> =>
      JSON.parse((await cancel(id)).body).message;

    expect((await cancel("1")).status).toBe(204);
    const before = await messageFor("none");
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

    const tables = join(copy, "infra/stack/tables.ts");
    const another = '\n  addTable("orders", "Refunds");\n';
    await writeFile(
      tables,
      (await readFile(tables, "utf8")).replace(/\n(?= {2}return .*\n}\n$)/, another),
    );
    const errors = join(copy, "shared/errors.ts");
    // As many editors save: the file is another one afterwards.
    const changed = (await readFile(errors, "utf8")).replace(before, "Nobody ordered this");
    await writeFile(`${errors}~`, `${changed}console.warn(new Error("a stack"));\n`);
    await rename(`${errors}~`, errors);
    await expect
      .poll(() => messageFor("none"), { ...startLimit, interval: 100 })
      .toBe("Nobody ordered this");
    expect((await cancel("1")).status).toBe(409);
    const client = engineClient(dynamodbEndpoint, accessKeyId);
    const { TableNames } = await client.send(new ListTablesCommand());
    client.destroy();
    expect(TableNames).toContainEqual(expect.stringContaining("Refunds"));

    underWay.end("{}");
    await expect.poll(() => responded).toHaveBeenCalled();
    const [response] = responded.mock.lastCall ?? [];
    expect(JSON.parse(response ? await text(response) : "")).toMatchObject({
      code: "order_not_found",
      message: before,
    });
    await expect.poll(() => functionsBefore.filter(isAlive)).toEqual([]);

    // A stack names the source's line, not the bundle's.
    expect(seen.stderr).toMatch(/a stack.*shared\/errors\.ts:\d+:14/);
    await appendFile(errors, "const = nothing;\n");
    const failures = /The last good build still serves.*shared\/errors\.ts:/gs;
    await expect.poll(() => seen.stderr, startLimit).toMatch(failures);
    expect(await messageFor("none")).toBe("Nobody ordered this");
    expect(seen.stderr.match(failures)).toHaveLength(1);

    for (const engine of await descendants(pid, "dynoxide")) process.kill(engine, "SIGKILL");
    const stderr = expect.stringMatching(/\nThe DynamoDB engine has ended by itself\n$/);
    await expect.poll(() => seen).toMatchObject({ ended: [1, null], stderr });
  },
);

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

  test("are built again when any changes, folders that come and go included", async () => {
    const expectRebuild = await watchSources();
    for (const name of sources) await expectRebuild(() => appendFile(join(folder, name), "\n"));
    const made = join(folder, "shared/new/deep");
    for (const _ of ["first", "anew"]) {
      await expectRebuild(() => mkdir(made, { recursive: true }));
      await expectRebuild(() => writeFile(join(made, "one.ts"), ""));
      await expectRebuild(() => rm(dirname(made), { recursive: true }));
    }
  });

  const change = (name: string) => appendFile(join(folder, name), "\n");

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
