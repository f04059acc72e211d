import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { makeApiKey } from "../../shared/api-keys.ts";
import { createStarter } from "../helpers/start-command.ts";

const { start, ordersFile } = await createStarter();

async function failure(options: string[], environment?: Record<string, string>) {
  const child = start(options, environment);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { stdout, stderr, code };
}

/** The environment that has node run some lines first. */
function preload(code: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}

describe("npm start", () => {
  test("exits with the bad lines of the orders file, in the words of an import", async () => {
    const file = await ordersFile("bad.ndjson", ['{"id":1}', '{"id":2,"petId":1.5}']);
    expect(await failure(["--port", "0", "--orders", file])).toEqual({
      stdout: "",
      stderr: `${file}:2: petId is not a 64-bit integer\n1 of 2 lines are bad: nothing was written\n`,
      code: 1,
    });
  });

  test("exits with one line about a port that is taken, and how to choose another", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { stdout, stderr, code } = await failure(["--port", String(port)]);
    server.close();
    expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
    expect(stderr).toMatch(new RegExp(`^Port ${port} .* --port\n$`));
  });

  test("rejects a DYNAMODB_ENDPOINT that does not respond, in one line", async () => {
    expect(await failure(["--port", "0"], { DYNAMODB_ENDPOINT: "http://127.0.0.1:1" })).toEqual({
      stdout: "",
      stderr: "No DynamoDB engine answers at DYNAMODB_ENDPOINT, 127.0.0.1:1\n",
      code: 1,
    });
  });

  test("rejects a --port that is none, in one line", async () => {
    expect(await failure(["--port", "65536"])).toEqual({
      stdout: "",
      stderr: "error: option '--port <number>' argument '65536' is invalid. The port must be between 0 and 65535.\n",
      code: 1,
    });
  });

  test.each([
    ["--port 3001", ["3001"], { port: "true" }],
    ["--port 3001", [], { port: "3001" }],
    ["--watch", [], { watch: "true" }],
    ["--throttle <n> --unavailable <n>", ["3", "4"], { throttle: "true", unavailable: "true" }],
  ])("says where %s goes when npm has taken it for its own", async (command, values, taken) => {
    const config = Object.entries(taken).map(([name, value]) => [`npm_config_${name}`, value]);
    expect(await failure(values, { npm_lifecycle_event: "start", ...Object.fromEntries(config) })).toEqual({
      stdout: "",
      stderr: `npm keeps options before -- for itself. Write: npm start -- ${command}\n`,
      code: 1,
    });
  });

  test.each(["0", "-1", "1.5", "many"])("rejects --throttle %s, in one line", async (n) => {
    const { stderr, code } = await failure(["--throttle", n]);
    expect({ stderr, code }).toEqual({
      stderr: `error: option '--throttle <n>' argument '${n}' is invalid. It must be a whole number from 1 up.\n`,
      code: 1,
    });
  });

  test("exits with one line when nobody can connect to 127.0.0.1", async () => {
    // As without a loopback interface; taking it away needs rights that tests may not have.
    const environment = preload(`import { Socket } from "node:net"; Socket.prototype.connect = function () {
      this.destroy(Object.assign(new Error(), { code: "ENETUNREACH" })); return this; };`);
    expect(await failure(["--port", "0"], environment)).toEqual({
      stdout: "",
      stderr: "127.0.0.1 can't be reached (ENETUNREACH): the loopback interface is missing or down\n",
      code: 1,
    });
  });

  test("says which commands bring the engine where there is none", async () => {
    const environment = preload(`Object.defineProperty(process, "arch", { value: "riscv64" });`);
    const { stdout, stderr, code } = await failure(["--port", "0"], environment);
    expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
    expect(stderr).toMatch(
      /lacks\n- a DynamoDB engine, which one of these brings:\n(?: {4}.*\n){2} {2}.* npm start\n$/,
    );
  });

  test.each([
    ["of production", makeApiKey("pets_live")],
    ["mistyped", `${makeApiKey("pets_test").slice(0, -1)}-`],
    ["incomplete", "pets_test_"],
  ])("rejects an --api-key that is %s, in one line without it", async (_, key) => {
    const { stdout, stderr, code } = await failure(["--api-key", key]);
    expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
    expect(stderr).toMatch(/^error: option '--api-key <key>'.* Not a well-formed key that starts with pets_test_\.\n$/);
    if (key.length > 10) expect(stderr).not.toContain(key.slice(10, 50));
  });

  test.each(["--db", "--orders"])("rejects %s without a name, in one line", async (option) => {
    expect(await failure(["--port", "0", option, ""])).toEqual({
      code: 1,
      stdout: "",
      stderr: `error: option '${option} <file>' argument '' is invalid. The name of a file is missing.\n`,
    });
  });

  test("rejects --db beside DYNAMODB_ENDPOINT, in one line", async () => {
    expect(await failure(["--db", "orders.db"], { DYNAMODB_ENDPOINT: "http://127.0.0.1:1" })).toEqual({
      stdout: "",
      stderr: "--db is for the embedded engine, but DYNAMODB_ENDPOINT names another: use one of the two\n",
      code: 1,
    });
  });
});
