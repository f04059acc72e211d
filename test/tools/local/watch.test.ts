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
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createLiveService, type Service } from "../../../infra/tools/local/service.ts";
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
  beforeAll(async () => {
    for (const part of ["functions", "shared", "infra", "package.json"])
      await cp(join(root, part), join(project, part), { recursive: true });
    await symlink(join(root, "node_modules"), join(project, "node_modules"));
    stack = start(["--port", "0", "--json", "--watch"], await prebuilt(), project);
    await vi.waitFor(() => expect(stack.seen.stdout).toMatch(/^\{.*\}\n$/), startLimit);
    expect(stack.seen.stderr).toBe("Building the service...\n");
    served = JSON.parse(stack.seen.stdout);
  });

  const cancel = async (id: string) => {
    const url = `${served.baseUrl}/store/orders/${id}`;
    const headers = { authorization: `Bearer ${served.apiKey}` };
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

  test("serves a change with the same orders, and ends the functions before it", async () => {
    expect((await cancel("1")).status).toBe(204);
    const functionsBefore = await descendants(stack.pid, "rapid-client.mjs");
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

test("a build's functions start once the earlier one has served its requests and stopped", async () => {
  const events: string[] = [];
  const note = (event: string) => () => void events.push(event);
  const underWay = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const waiting = underWay.values();
  const build = (name: string): Service => ({
    basePath: "",
    requests: Promise.resolve(),
    serve: async () => await waiting.next().value?.promise,
    begin: note(`${name} begins`),
    stop: () => setImmediate().then(note(`${name} stops`)),
  });
  const { serve, use } = createLiveService();
  await use(build("first"));
  const request = new IncomingMessage(new Socket());
  for (const _ of underWay) void serve(request, new ServerResponse(request));
  const used = use(build("second"));
  for (const { resolve } of underWay.toReversed()) {
    await setImmediate();
    expect(events).toEqual(["first begins"]);
    resolve();
  }
  await used;
  expect(events).toEqual(["first begins", "first stops", "second begins"]);
});

describe("the watched sources", () => {
  const names = [
    "functions/one.ts",
    "shared/one.ts",
    "infra/stack/one.ts",
    "infra/environments.ts",
  ];
  let at: (name: string) => string;
  /** Lets the watch look at them, and resolves when it is done with that. */
  let look: () => Promise<void>;
  const rebuild = vi.fn(async () => {});
  const log = vi.fn<(line: string) => void>();
  let ending: AbortController;
  let watching: Promise<void>;
  beforeEach(async () => {
    const folder = await temporaryFolder();
    at = (name) => join(folder.path, name);
    for (const name of names) {
      await mkdir(dirname(at(name)), { recursive: true });
      await writeFile(at(name), "");
    }
    rebuild.mockReset();
    log.mockReset();
    let looked = () => {};
    let pauseOver = () => {};
    const pause = () => {
      looked();
      return new Promise<void>((resolve) => (pauseOver = resolve));
    };
    look = () =>
      new Promise((resolve) => {
        looked = resolve;
        pauseOver();
      });
    ending = new AbortController();
    let time = 0;
    const clock = { now: () => (time += 1540), pause };
    watching = watchSources(rebuild, ending.signal, log, folder.path, clock);
    return async () => {
      ending.abort();
      pauseOver();
      await watching;
      await folder.remove();
    };
  });

  async function expectBuild(change: Promise<unknown>) {
    rebuild.mockClear();
    await change;
    await look();
    expect(rebuild).not.toHaveBeenCalled();
    await look();
    expect(rebuild).toHaveBeenCalledOnce();
  }

  test("are rebuilt once a file in them changes no more", async () => {
    for (const name of names) {
      await appendFile(at(name), "\n");
      await look();
      // As long as before.
      await expectBuild(writeFile(at(name), " "));
    }
    await look();
    expect(log.mock.calls).toEqual(names.map(() => ["Rebuilt in 1.5 s."]));
  });

  test("are not mentioned any more when the stack stops during a build", async () => {
    rebuild.mockImplementationOnce(async () => ending.abort());
    await appendFile(at("shared/one.ts"), "\n");
    await look();
    void look();
    await watching;
    expect(rebuild).toHaveBeenCalledOnce();
    expect(log).not.toHaveBeenCalled();
  });

  test("are rebuilt when a folder is deleted, back and filled again", async () => {
    await expectBuild(rm(at("functions"), { recursive: true }));
    await expectBuild(mkdir(at("functions/deep"), { recursive: true }));
    await expectBuild(writeFile(at("functions/deep/one.ts"), ""));
  });

  test("are rebuilt once more when one changes during a build", async () => {
    rebuild.mockImplementationOnce(() => appendFile(at("shared/one.ts"), "\n"));
    await expectBuild(appendFile(at("functions/one.ts"), "\n"));
    await expectBuild(Promise.resolve());
  });
});
