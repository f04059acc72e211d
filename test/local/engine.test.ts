import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { startEngine } from "../../infra/local/engine/engine.ts";
import { isAlive } from "../helpers/processes.ts";

const listens = 'echo "Dynoxide listening on http://127.0.0.1:$4" >&2; exec sleep 600';

/** A program that is started as the engine is: `$4` is its port, and `$0` its own path. */
async function program(script: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "engine-test-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "engine");
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

test.each([
  "error: port $4 is already in use (detected listener on 127.0.0.1:$4)",
  "error: failed to bind 127.0.0.1:$4: Address in use (os error 98)",
  "error: failed to listen on 127.0.0.1:$4: Address already in use (os error 48)",
])("an engine whose port another process took starts with another one: %s", async (line) => {
  const path = await program(`mkdir "$0.tried" && echo "${line}" >&2 && exit 1\n${listens}`);
  const engine = await startEngine(undefined, path);
  expect(isAlive(engine.pid)).toBe(true);
  await engine.stop();
  expect(isAlive(engine.pid)).toBe(false);
});

test("an engine that ends at once fails the start with its last line", async () => {
  const path = await program('echo "starting" >&2; echo "error: database is locked" >&2; exit 1');
  await expect(startEngine("orders.db", path)).rejects.toThrow(
    "The DynamoDB engine did not start with orders.db: error: database is locked",
  );
});

test("an engine may go on writing to its standard error", async () => {
  const path = await program(`(head -c 3000000 /dev/zero >&2 && mkdir "$0.wrote") &\n${listens}`);
  const engine = await startEngine(undefined, path);
  await vi.waitFor(() => expect(existsSync(`${path}.wrote`)).toBe(true));
  await engine.stop();
});
